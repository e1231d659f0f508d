import { AGENT_COLUMNS, type AgentRow, ensureReach, toAgent } from '../agent/reach.ts'
import { AppError } from '../core/errors.ts'
import { type Batch, createBatch } from '../db/batch.ts'
import { byteaArray } from '../db/bytea.ts'
import { type Db, isUnavailable } from '../db/client.ts'
import type { Notifier } from '../db/notify.ts'
import { within } from '../db/transaction.ts'
import { ENQUEUE_SENDS, SEND_DUE } from '../job/enqueue.ts'
import { ensureRoomToSend, type Plans } from '../workspace/plan.ts'
import type { RateLimits } from '../workspace/rate-limits.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { MESSAGE_CHANGED } from './changed.ts'
import { type Draft, type DraftDeps, draft, type Sender } from './draft.ts'
import type { SendInput } from './plan.ts'
import type { MessageWithFiles } from './present.ts'
import { INSERT_MESSAGES, toRow } from './row.ts'

/** Stores messages to send, their recipients and their jobs: one statement for all that have gathered. */
const STORE = {
  name: 'store drafts',
  text: `
    with
    drafted as (
      ${INSERT_MESSAGES} from json_populate_recordset(null::message, $1) m
      returning id, agent_id, created_at
    ),
    recipients as (
      insert into recipient (message_id, address, updated_at)
      select r.id, r.address, d.created_at from unnest($2::uuid[], $3::text[]) as r(id, address) join drafted d using (id)
    ),
    files as (
      insert into attachment (message_id, index, name, type, size, content)
      select f.id, f.index, f.name, f.type, length(f.content), f.content
        from unnest($4::uuid[], $5::int[], $6::text[], $7::text[], $8::bytea[]) as f(id, index, name, type, content) join drafted using (id)
    ),${ENQUEUE_SENDS}
    select 1`,
}

/** Stores drafts in one statement. */
export const storeDrafts = async ({ pool }: Db, drafts: readonly Draft[]): Promise<undefined[]> => {
  const recipients = drafts.flatMap(({ message, recipients }) => recipients.map((address) => ({ id: message.id, address })))
  const files = drafts.flatMap(({ message, attachments }) => attachments.map((file, index) => ({ id: message.id, index, file })))
  await pool.query({
    ...STORE,
    values: [
      JSON.stringify(drafts.map(({ message }) => toRow(message))),
      recipients.map(({ id }) => id),
      recipients.map(({ address }) => address),
      files.map(({ id }) => id),
      files.map(({ index }) => index),
      files.map(({ file }) => file.name),
      files.map(({ file }) => file.type),
      byteaArray(files.map(({ file }) => file.content)),
    ],
  })
  return drafts.map(() => undefined)
}

/** Of files in one statement; a message with more goes alone. */
const MOST_BYTES = 4 * 1024 * 1024
const sizeOf = ({ files }: Draft) => files.reduce((sum, { size }) => sum + size, 0)

/** Where messages to send gather to be committed together. */
export type DraftStore = Batch<Draft, undefined>

export const createDraftStore = (db: Db): DraftStore =>
  createBatch((drafts) => storeDrafts(db, drafts), { most: 100, parallel: 1, mostBytes: MOST_BYTES, sizeOf, isUnavailable })

export interface SendDeps extends DraftDeps {
  senders: Senders
  drafts: DraftStore
  notifier: Notifier
  plans: Plans
  rates: RateLimits
}

/** Messages that an agent may send in a minute. */
const SENDS_A_MINUTE = 60

const ensureRate = ({ rates }: SendDeps, agentId: string): void => {
  const { allowed, limit, resetSeconds } = rates.take(`send:${agentId}`, SENDS_A_MINUTE)
  if (!allowed) throw new AppError('rate_limited', `An agent sends at most ${limit} messages a minute.`, { retryAfter: resetSeconds })
}

const SENDERS = {
  name: 'agents that send',
  text: `select ${AGENT_COLUMNS},
                coalesce((select json_agg(json_build_object('id', o.id, 'channel', o.channel) order by o."primary" desc, o.created_at)
                            from address o where o.agent_id = a.id), '[]') as addresses
           from unnest($1::uuid[]) with ordinality as asked(id, place) left join agent a on a.id = asked.id order by asked.place`,
}
type SenderRow = Pick<Sender, 'addresses'> & (AgentRow | { id: null })

/** Where agents that send are looked up, in one statement for all that have gathered. */
export type Senders = Batch<string, Sender | null>

export const createSenders = ({ pool }: Db): Senders =>
  createBatch(
    async (ids) => {
      const { rows } = await pool.query<SenderRow>({ ...SENDERS, values: [ids] })
      return rows.map((row) => (row.id === null ? null : { ...toAgent(row), addresses: row.addresses }))
    },
    { most: 100, parallel: 2, patienceMs: 5, isUnavailable },
  )

/** How long a message may wait for its turn and be stored. */
const TURN_MS = 30_000

/** Stores a message of a workspace that may send no more than so many, alone and one after the other: the last one is the last. */
const storeCounted = ({ prisma, clock }: SendDeps, made: Draft): Promise<unknown> =>
  prisma.$transaction(
    async (tx) => {
      await ensureRoomToSend(tx, clock, made.message.workspaceId)
      await storeDrafts(within(tx), [made])
    },
    { timeout: TURN_MS, maxWait: 5_000 },
  )

/** Takes a message to send. It is committed with its job when this resolves, with status `sending`. */
export const sendMessage = async (deps: SendDeps, viewer: Viewer, agentId: string, input: SendInput): Promise<MessageWithFiles> => {
  const agent = ensureReach(viewer, await deps.senders.add(agentId))
  const made = await draft(deps, agent, input)
  const limited = await deps.plans.ensureMaySend(agent.workspaceId)
  ensureRate(deps, agentId)
  await (limited ? storeCounted(deps, made) : deps.drafts.add(made))
  deps.notifier.publish(SEND_DUE, 'send')
  deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${made.message.id}`)
  return { ...made.message, attachments: made.files }
}
