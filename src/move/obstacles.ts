import type pg from 'pg'
import { readMigrations, readTables } from '../backup/tables.ts'
import type { Bucket } from '../blob/index.ts'
import type { MoveTarget } from '../config/move-target.ts'
import { SCHEMA } from '../db/schema.ts'
import { readKeyTest } from '../workspace/index.ts'

/** A session with each of the two databases. */
export interface Databases {
  from: pg.Client
  to: pg.Client
}

/** Values in rows of a table, or of a join, that have a `workspace_id`. */
interface Values {
  /** SQL of the value as text. */
  value: string
  from: string
  where?: string
}

/** What only one workspace of an installation can have, as an operator would call it. */
const UNIQUE: Readonly<Record<string, { ours: Values; theirs?: Partial<Values> }>> = {
  'the address': { ours: { value: `channel || ' ' || value`, from: 'address' } },
  'the address, which another workspace there has or had,': {
    ours: { value: 'value', from: 'given_address' },
  },
  'the address, as that of a member,': {
    ours: { value: 'value', from: 'address', where: `channel = 'email'` },
    theirs: { value: 'email', from: 'member', where: 'true' },
  },
  'the phone number': { ours: { value: 'value', from: 'phone_number' } },
  'the Telegram bot': {
    ours: { value: 'bot_id::text', from: 'telegram_bot join address on address.id = address_id' },
  },
  'the domain, verified by another workspace,': {
    ours: { value: 'name', from: 'domain', where: `state <> 'pending'` },
    theirs: { where: `state = 'verified'` },
  },
  'the passkey': {
    ours: { value: `encode(credential_id, 'hex')`, from: 'passkey join member on member.id = member_id' },
  },
}

const valuesOf = async (
  client: pg.Client,
  condition: string,
  of: Values,
  params: unknown[],
): Promise<string[]> => {
  const { value, from, where = 'true' } = of
  const query = `select ${value} as value from ${from} where ${condition} and ${where}`
  return (await client.query<{ value: string }>(query, params)).rows.map((row) => row.value)
}

const findConflicts = async ({ from, to }: Databases, workspaceId: string): Promise<string[]> => {
  const found: string[] = []
  for (const [what, { ours, theirs }] of Object.entries(UNIQUE)) {
    const values = await valuesOf(from, 'workspace_id = $1', ours, [workspaceId])
    const other = { ...ours, ...theirs }
    const taken = `workspace_id <> $1 and ${other.value} = any($2::text[])`
    for (const value of await valuesOf(to, taken, other, [workspaceId, values]))
      found.push(`The other installation has ${what} ${value} already.`)
  }
  return found
}

/** Rows that are still being deleted from when the workspace was there before. */
const findLeftovers = async ({ to }: Databases, workspaceId: string): Promise<string[]> => {
  const tables = (await readTables(to)).filter(
    ({ name, columns }) => name !== 'given_address' && columns.includes('workspace_id'),
  )
  for (const { name } of tables) {
    const { rowCount } = await to.query(`select from "${name}" where workspace_id = $1 limit 1`, [
      workspaceId,
    ])
    if (rowCount)
      return [
        `The other installation still has rows of this workspace (${name}): wait until it has deleted them.`,
      ]
  }
  return []
}

const findWorkspaceObstacles = async ({ from, to }: Databases, workspaceId: string): Promise<string[]> => {
  const { rows } = await from.query<{ plan: string; deleted: boolean }>(
    'select plan_key as plan, delete_at is not null as deleted from workspace where id = $1',
    [workspaceId],
  )
  const { plan, deleted } = rows[0]!
  const { rowCount } = await to.query('select from plan where key = $1', [plan])
  return [
    ...(deleted ? ['The workspace is to be deleted: an owner can cancel that.'] : []),
    ...(rowCount ? [] : [`The other installation has no plan ${plan}: add it there.`]),
  ]
}

/** Addresses on this installation's domain are kept, if the other installation can sign their mail. */
const findUnsigned = async (
  { from, to }: Databases,
  workspaceId: string,
  mailDomain: string,
): Promise<string[]> => {
  const own = `channel = 'email' and domain_id is null and split_part(value, '@', 2) = $2`
  const { rowCount: has } = await from.query(
    `select from address where workspace_id = $1 and ${own} limit 1`,
    [workspaceId, mailDomain],
  )
  if (!has) return []
  const { rowCount: signs } = await to.query(
    'select from dkim_key where workspace_id is null and domain = $1 and retired_at is null',
    [mailDomain],
  )
  return signs
    ? []
    : [
        `Agents have addresses at ${mailDomain}, for which the other installation has no DKIM key: run the command domain there, with its settings and MAIL_DOMAIN=${mailDomain}, and publish what it prints.`,
      ]
}

/** The object stores of both installations. */
export interface Stores {
  from: { bucket: Bucket; place: string } | null
  to: { bucket: Bucket; place: string } | null
}

const findStoreObstacles = async (
  { from }: Databases,
  workspaceId: string,
  { from: here, to: there }: Stores,
): Promise<string[]> => {
  const { rowCount } = await from.query('select from blob where workspace_id = $1 limit 1', [workspaceId])
  if (!rowCount) return []
  if (!here)
    return [
      'Contents of messages are in an object store, and BLOB_URL is not set: set it as for the service.',
    ]
  if (!there)
    return [
      'Contents of messages are in an object store: set TO_BLOB_URL and its keys to that of the other installation, or move the contents into the database first (move-blobs --to database).',
    ]
  if (here.place === there.place)
    return [
      'Both installations have the same bucket and prefix: deleting the workspace here would delete its contents there. Give the other one a prefix of its own.',
    ]
  const checked = await Promise.allSettled([here.bucket.check(), there.bucket.check()])
  return checked.some(({ status }) => status === 'rejected')
    ? ['A bucket cannot be reached, or not with these keys.']
    : []
}

const findProcesses = async ({ from }: Databases): Promise<string[]> => {
  const { rowCount } = await from.query(
    `select from pg_stat_activity where datname = current_database() and application_name like 'ams-listen%'
        and application_name <> $1`,
    [`ams-listen/${SCHEMA}`],
  )
  return rowCount
    ? [
        'Processes of another release run on this database, which do not know that a workspace moves: replace them first.',
      ]
    : []
}

/** Returns why the databases do not fit each other; nothing else can be looked at then. */
export const findMismatches = async (
  { from, to }: Databases,
  { masterKeys }: Pick<MoveTarget, 'masterKeys'>,
  identities: readonly [string, string],
): Promise<string[]> => {
  if (identities[0] === identities[1]) return ['Both installations have the same database.']
  const [ours, theirs] = [await readMigrations(from), await readMigrations(to).catch(() => [])]
  if (ours.join() !== theirs.join())
    return [
      'The other installation is of another version: bring both to the same one, and start it there once.',
    ]
  const opens = await readKeyTest(to)
  if (!opens)
    return [
      'The other installation has no workspace yet, so its master key cannot be checked: start it once.',
    ]
  return opens(masterKeys) ? [] : ['TO_MASTER_KEY is not the master key of the other installation.']
}

/** Returns everything that is in the way of a move that has not begun, in sentences for the operator. */
export const findObstacles = async (
  databases: Databases,
  workspaceId: string,
  { mailDomain, stores }: { mailDomain: string; stores: Stores },
): Promise<string[]> =>
  [
    await findProcesses(databases),
    await findWorkspaceObstacles(databases, workspaceId),
    await findLeftovers(databases, workspaceId),
    await findConflicts(databases, workspaceId),
    await findUnsigned(databases, workspaceId, mailDomain),
    await findStoreObstacles(databases, workspaceId, stores),
  ].flat()
