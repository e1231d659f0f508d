import { invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { ensureMember, type Viewer } from '../workspace/index.ts'
import { ofListening } from './listeners.ts'
import { traceMessage } from './message.ts'
import { brief, settled, type Trace } from './moment.ts'
import { type Scope, traceRequest, traceToken } from './requests.ts'

/** Answers: why did this mail not arrive, why did the agent not wake, what did this token or request do? */

/** How many messages an operator is shown, and how many a member. */
const MOST = 20
export const MOST_FOR_MEMBERS = 5
/** Messages with an address that is not an agent's are looked for this far back: no index has their addresses. */
const RECENT = '2 days'
/** … and among so many of the newest messages of a member's workspace. */
const WALKED = 5_000

interface Found {
  id: string
  agentId: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Probes an index of each agent: no index has the Message-IDs of all. */
const BY_MESSAGE_ID = `select id, agent_id as "agentId" from message
  where agent_id = any(array(select id from agent where $2::uuid is null or workspace_id = $2)) and internet_message_id = any($1)
  order by created_at desc limit $3`

const HAS = `(lower(counterpart) = $1 or $1 = any("to") or $1 = any(cc) or $1 = any(bcc))`

const BY_COUNTERPART = `select m.id, m.agent_id as "agentId" from agent a cross join lateral (
  select id, agent_id, created_at from message
   where agent_id = a.id and created_at > now() - interval '${RECENT}' and ${HAS}
   order by created_at desc, id desc limit 5) m order by m.created_at desc limit ${MOST}`

const BY_COUNTERPART_HERE = `select id, agent_id as "agentId" from (
  select id, agent_id, created_at, counterpart, "to", cc, bcc from message
   where workspace_id = $2 and created_at > now() - interval '${RECENT}'
   order by created_at desc, id desc limit ${WALKED}) m where ${HAS} order by created_at desc limit ${MOST_FOR_MEMBERS}`

const LATEST = `select id, agent_id as "agentId" from message where agent_id = $1 order by created_at desc, id desc limit $2`

interface Question {
  scope: Scope
  now: Date
}

const traceAll = async (
  db: Db,
  statement: string,
  values: unknown[],
  { now }: Question,
): Promise<Trace[]> => {
  const { rows } = await db.pool.query<Found & Record<string, unknown>>(statement, values)
  const traces: (Trace | null)[] = []
  for (const { id, agentId } of rows) traces.push(await traceMessage(db, { id, agentId }, now))
  return traces.filter((one) => one !== null)
}

interface Owned {
  address: string
  agentId: string
  agent: string
  workspace: string
  createdAt: Date
  admit: string
  senders: number
  blocked: number
}

/** Addresses are stored in lower case where case does not matter. All channels, because the index begins with them. */
const owned = (
  wanted: string,
) => `select a.value as address, a.agent_id as "agentId", g.name as agent, w.name as workspace, a.created_at as "createdAt", c.admit::text as admit,
    cardinality(c.senders) as senders, cardinality(c.blocked) as blocked
  from address a join agent g on g.id = a.agent_id join workspace w on w.id = a.workspace_id
  join access c on c.agent_id = a.agent_id and c.channel::text = a.channel::text
 where ${wanted} and a.channel = any(enum_range(null::"Channel")) and ($2::uuid is null or a.workspace_id = $2)
 order by a.created_at limit 5`
const OWNED = owned('a.value = any($1)')
const OWNED_BY_AGENT = owned('a.agent_id = $1')

const GIVEN = 'select from given_address where value = any($1) and ($2::uuid is null or workspace_id = $2)'

/** Of an address that is nobody's, at least nobody's that is known to who asks. */
const traceStranger = async (db: Db, address: string, question: Question): Promise<Trace[]> => {
  const workspaceId = question.scope?.workspaceId ?? null
  const value = address.toLowerCase()
  const { rows: given } = await db.pool.query(GIVEN, [[address, value], workspaceId])
  const past: Trace[] = given.map(() => ({
    kind: 'former_address',
    ...{ subject: address, owner: null, agentId: null, threadId: null, moments: [] },
    about: `${brief(address)}: was an agent's address, and is nobody's now`,
  }))
  const found = workspaceId
    ? await traceAll(db, BY_COUNTERPART_HERE, [value, workspaceId], question)
    : await traceAll(db, BY_COUNTERPART, [value], question)
  return [...past.map(settled), ...found]
}

/** Addresses of one agent, and the latest messages of that. */
const traceOwned = async (
  db: Db,
  statement: string,
  wanted: unknown,
  question: Question,
): Promise<Trace[]> => {
  const { scope, now } = question
  const values = [wanted, scope?.workspaceId ?? null]
  const { rows } = await db.pool.query<Owned & Record<string, unknown>>(statement, values)
  if (rows.length === 0) return []
  const { agentId } = rows[0]!
  const listening = await ofListening(db, agentId, now)
  const addresses = rows.map((own) =>
    settled({
      kind: 'address',
      ...{ subject: own.address, owner: own.agent, agentId, threadId: null },
      about: `${own.address}: agent ${own.agent} (${agentId}) of workspace ${own.workspace}`,
      moments: [
        { at: own.createdAt, kind: 'address_created' },
        { at: now, kind: 'admits', detail: own.admit },
        { at: now, kind: 'senders', detail: String(own.senders) },
        { at: now, kind: 'blocked', detail: String(own.blocked) },
        listening,
      ],
    }),
  )
  const most = scope ? MOST_FOR_MEMBERS : MOST / 2
  return [...addresses, ...(await traceAll(db, LATEST, [agentId, most], question))]
}

const traceAddress = async (db: Db, address: string, question: Question): Promise<Trace[]> => {
  const values = [address, address.toLowerCase()]
  const found = await traceOwned(db, OWNED, values, question)
  return found.length > 0 ? found : traceStranger(db, address, question)
}

const MESSAGE = `select id, agent_id as "agentId" from message where id = $1 and ($2::uuid is null or workspace_id = $2)`

const traceId = async (db: Db, id: string, question: Question): Promise<Trace[]> => {
  const { scope } = question
  const messages = await traceAll(db, MESSAGE, [id, scope?.workspaceId ?? null], question)
  if (messages.length > 0) return messages
  const tokens = await traceToken(db, id, scope)
  if (tokens.length > 0) return tokens
  const agents = await traceOwned(db, OWNED_BY_AGENT, id, question)
  return agents.length > 0 ? agents : traceRequest(db, id, scope)
}

export const bareOf = (what: string): string => what.trim().replace(/^<(.*)>$/, '$1')

/**
 * Traces a message by its id or Message-ID, an address, an agent or a token by its id, or a request by its own; newest messages
 * first, and nothing that is not stored. No text of a message is in it.
 */
export const trace = async (db: Db, what: string, question: Question): Promise<Trace[]> => {
  const bare = bareOf(what)
  if (UUID.test(bare)) return traceId(db, bare, question)
  const { scope } = question
  const values = [[bare, `<${bare}>`], scope?.workspaceId ?? null, scope ? MOST_FOR_MEMBERS : MOST]
  const found = await traceAll(db, BY_MESSAGE_ID, values, question)
  return found.length > 0 ? found : traceAddress(db, bare, question)
}

/** Traces something of a member's workspace. For members. Throws `invalid_input` for what cannot be any of it. */
export const traceFor = (db: Db, viewer: Viewer, what: string, now: Date): Promise<Trace[]> => {
  ensureMember(viewer)
  if (!/^[^\p{Cc}\p{Cs}]{1,998}$/u.test(what.trim()))
    throw invalidInput('what', 'must be a Message-ID, an address or an id')
  return trace(db, what, { scope: { workspaceId: viewer.workspaceId, memberId: viewer.id }, now })
}
