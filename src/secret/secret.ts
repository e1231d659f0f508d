import { changeGuard, findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { ActorKind } from '../db/generated/prisma/enums.ts'
import { within } from '../db/transaction.ts'
import { audit, type Keyring, NIL, type SealedColumn, type Viewer } from '../workspace/index.ts'
import { isGuarded } from './guard/guarded.ts'
import { boundTo, type Guards } from './guard/guards.ts'

export interface SecretDeps extends Db {
  clock: Clock
  keyring: Keyring
}

interface ChangeDeps extends SecretDeps {
  guards: Pick<Guards, 'changed'>
}

/** A secret in lists, without its value. */
export interface SecretItem {
  name: string
  kind: 'secret'
  setBy: ActorKind
  updatedAt: Date
  /** Null for one that is kept. */
  expiresAt: Date | null
}

/** Which secrets there still are. */
export const unexpired = (now: Date) =>
  ({ OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] }) satisfies Prisma.SecretWhereInput

/** Value of a secret, in UTF-8. @limit Secrets */
const MAX_VALUE_BYTES = 64 * 1024

/** Secrets of an agent: revealing all of them holds them all in memory. @limit Secrets */
const MAX_SECRETS = 1_000
/** Total size of an agent's secrets. @limit Secrets */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Ensures that the agent may have a value of this size, in place of an existing one with the same name. Deletes its
 * expired ones. Locks the agent until the transaction ends, so that concurrent values are all counted. Throws `conflict`.
 */
const ensureRoom = async (
  tx: Prisma.TransactionClient,
  agentId: string,
  { name, bytes, now }: { name: string; bytes: number; now: Date },
): Promise<void> => {
  await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for no key update`
  await tx.secret.deleteMany({ where: { agentId, expiresAt: { lte: now } } })
  const [others] = await tx.$queryRaw<{ count: number; bytes: number }[]>`
    select count(*)::int as count, coalesce(sum(length(sealed)), 0)::int as bytes
      from secret where agent_id = ${agentId}::uuid and name <> ${name}`
  if (others!.count >= MAX_SECRETS || others!.bytes + bytes > MAX_BYTES)
    throw new AppError(
      'conflict',
      `An agent can have at most ${MAX_SECRETS} secrets, 16 MiB in total. Delete one first.`,
    )
}

/** Returns the agent's secrets by name, without their values. */
export const listSecrets = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  agentId: string,
): Promise<SecretItem[]> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.secret.findMany({
    where: { agentId, ...unexpired(deps.clock.now()) },
    orderBy: { name: 'asc' },
    select: { name: true, setByKind: true, updatedAt: true, expiresAt: true },
  })
  return rows.map(({ setByKind, ...row }) => ({ ...row, kind: 'secret', setBy: setByKind }))
}

/** A value and its name; with the time in milliseconds after which it expires, if it does. */
interface NewSecret {
  name: string
  value: string
  expiresInMs?: number
}

/** Stores a value in the transaction that `deps` are part of. */
const store = async (
  deps: SecretDeps,
  viewer: Viewer,
  { id: agentId, workspaceId }: { id: string; workspaceId: string },
  { name, value, expiresInMs }: NewSecret,
): Promise<SecretItem> => {
  const { prisma: tx, keyring, clock } = deps
  const sealed = Uint8Array.from(await keyring.seal(workspaceId, value, boundTo(agentId, name)))
  const now = clock.now()
  const data = {
    ...{ sealed, setByKind: viewer.kind, setById: viewer.id, updatedAt: now },
    expiresAt: expiresInMs === undefined ? null : new Date(now.getTime() + expiresInMs),
  }
  await ensureRoom(tx, agentId, { name, bytes: sealed.length, now })
  await tx.secret.upsert({
    where: { agentId_name: { agentId, name } },
    create: { agentId, name, createdAt: now, ...data },
    update: data,
  })
  await changeGuard(tx, agentId)
  await audit(deps, viewer, { action: 'secret.set', agentId, detail: { name } })
  return { name, kind: 'secret', setBy: viewer.kind, updatedAt: now, expiresAt: data.expiresAt }
}

/** A secret that was set, and whether messages are compared with its value: with short and common ones they are not. */
export type StoredSecret = SecretItem & { guarded: boolean }

/** Stores a value under a name, in place of an earlier one. Throws `conflict` beyond the limits. */
export const setSecret = async (
  deps: ChangeDeps,
  viewer: Viewer,
  agentId: string,
  { name, value }: { name: string; value: string },
): Promise<StoredSecret> => {
  const agent = await findAgent(deps, viewer, agentId)
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    throw invalidInput('value', `must be at most ${MAX_VALUE_BYTES} bytes`)
  await deps.keyring.load(agent.workspaceId)
  const item = await deps.prisma.$transaction((tx) =>
    store({ ...deps, ...within(tx) }, viewer, agent, { name, value }),
  )
  deps.guards.changed(deps, agentId)
  return { ...item, guarded: isGuarded(value) }
}

/**
 * Stores a value that expires, in the transaction that `deps` are part of; the keys of the agent's workspace are loaded, and the
 * caller tells the guards once it is committed. Throws
 * `conflict` for the name of a secret that is kept, and beyond the limits.
 */
export const keepSecret = async (
  deps: SecretDeps,
  viewer: Viewer,
  agent: { id: string; workspaceId: string },
  secret: Required<NewSecret>,
): Promise<void> => {
  const { name } = secret
  const where = { agentId: agent.id, name, expiresAt: null }
  if ((await deps.prisma.secret.count({ where })) > 0)
    throw new AppError('conflict', `The agent has a secret ${name} that does not expire. Use another name.`)
  await store(deps, viewer, agent, secret)
}

/** Deletes a secret. Throws `not_found` if there is none with this name. */
export const deleteSecret = async (
  deps: Omit<ChangeDeps, 'keyring'>,
  viewer: Viewer,
  agentId: string,
  name: string,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  await deps.prisma.$transaction(async (tx) => {
    // The agent before the secret, as where one is set: the two would deadlock otherwise.
    await changeGuard(tx, agentId)
    const where = { agentId, name, ...unexpired(deps.clock.now()) }
    const { count } = await tx.secret.deleteMany({ where })
    if (count === 0) throw notFound('secret', 'name')
    await audit({ ...deps, prisma: tx }, viewer, { action: 'secret.delete', agentId, detail: { name } })
  })
  deps.guards.changed(deps, agentId)
}

/**
 * Returns the values of the named secrets (all when `names` is undefined), for the agent itself only. Unknown
 * names are left out. The audit log records who revealed which names before the values are returned.
 */
export const revealSecrets = async (
  deps: SecretDeps,
  viewer: Viewer,
  agentId: string,
  names: readonly string[] | undefined,
): Promise<Record<string, string>> => {
  const agent = await findAgent(deps, viewer, agentId, 'be')
  const rows = await deps.prisma.secret.findMany({
    where: { agentId, ...unexpired(deps.clock.now()), ...(names ? { name: { in: [...names] } } : {}) },
    orderBy: { name: 'asc' },
  })
  const values = await Promise.all(
    rows.map(
      async ({ name, sealed }) =>
        [
          name,
          (await deps.keyring.open(agent.workspaceId, sealed, boundTo(agentId, name))).toString(),
        ] as const,
    ),
  )
  await audit(deps, viewer, {
    action: 'secret.reveal',
    agentId,
    detail: { names: rows.map(({ name }) => name) },
  })
  return Object.fromEntries(values)
}

/** Deletes secrets that have expired. Idempotent; any process may call it at any time. Returns their number. */
export const pruneSecrets = async ({ prisma }: Db, now: Date): Promise<number> =>
  (await prisma.secret.deleteMany({ where: { expiresAt: { lte: now } } })).count

/** All values, for the rotation of data keys; `bound` must equal the result of `boundTo`. */
export const SEALED_SECRETS: SealedColumn = {
  name: 'secret.sealed',
  first: [NIL, ''],
  page: `
    select array[s.agent_id::text, s.name] as at, s.sealed, format('secret:%s:%s', s.agent_id, s.name) as bound
      from secret s join agent a on a.id = s.agent_id
     where a.workspace_id = $1 and (s.agent_id, s.name) > (($2::text[])[1]::uuid, ($2::text[])[2])
     order by s.agent_id, s.name limit $3`,
  replace: `update secret set sealed = $3 where agent_id = ($1::text[])[1]::uuid and name = ($1::text[])[2] and sealed = $2`,
}
