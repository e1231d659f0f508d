import { authorizeAgent, findAgent } from '../../agent/permission.ts'
import { CHATS_IN_SQL } from '../../core/channels.ts'
import { AppError } from '../../core/errors.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { byteaArray } from '../../db/bytea.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { within } from '../../db/transaction.ts'
import { ensureRoomToSend, type Plans } from '../../workspace/plan.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { MESSAGE_CHANGED } from '../reading/changed.ts'
import type { MessageWithFiles } from '../reading/present.ts'
import { insertMessages, toRow } from '../row.ts'
import { type Draft, type DraftDeps, draft } from './draft.ts'
import type { Sender, SendInput } from './send-intent.ts'
import { ENQUEUE_SENDS, SEND_DUE } from './send-job.ts'

/**
 * Where a message `m` goes out from: the address that its original came to while the agent has it, else the
 * channel's primary one.
 */
const PLACE = `select a.id from address a where a.agent_id = m.agent_id and a.workspace_id = m.workspace_id and a.channel = m.channel
    order by a.id = m.address_id desc, a."primary" desc, a.created_at limit 1`

const THREAD_OF_CHAT = `select l.thread_id from message l
    where l.agent_id = m.agent_id and l.address_id = place.id and l.counterpart = m.counterpart and l.channel in ${CHATS_IN_SQL}
    order by l.created_at desc limit 1`

/**
 * Stores messages to send, their recipients and their jobs: one statement for all that have gathered. It
 * leaves out those whose agent is not their workspace's or has no address on their channel.
 */
const STORE = {
  name: 'store drafts',
  text: `
    with
    drafted as (
      ${insertMessages({ address_id: 'place.id', thread_id: `coalesce(m.thread_id, (${THREAD_OF_CHAT}), m.id)` })}
        from json_populate_recordset(null::message, $1) m cross join lateral (${PLACE}) place
      returning id, agent_id, address_id, thread_id, created_at
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
    select id, address_id as "addressId", thread_id as "threadId" from drafted`,
}

/** What storing a draft found out. */
type Placed = Pick<Message, 'addressId' | 'threadId'>

/** Stores drafts in one statement; null for each that it left out. */
export const storeDrafts = async ({ pool }: Db, drafts: readonly Draft[]): Promise<(Placed | null)[]> => {
  const recipients = drafts.flatMap(({ message, recipients }) =>
    recipients.map((address) => ({ id: message.id, address })),
  )
  const files = drafts.flatMap(({ message, attachments }) =>
    attachments.map((file, index) => ({ id: message.id, index, file })),
  )
  const { rows } = await pool.query<Placed & { id: string }>({
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
  const stored = new Map(rows.map(({ id, ...placed }) => [id, placed]))
  return drafts.map(({ message }) => stored.get(message.id) ?? null)
}

/** Of files in one statement; a message with more goes alone. */
const MAX_BYTES = 4 * 1024 * 1024
const sizeOf = ({ files }: Draft) => files.reduce((sum, { size }) => sum + size, 0)

/** Where messages to send gather to be committed together. */
export type DraftStore = Batch<Draft, Placed | null>

export const createDraftStore = (db: Db): DraftStore =>
  createBatch((drafts) => storeDrafts(db, drafts), {
    most: 100,
    parallel: 1,
    maxBytes: MAX_BYTES,
    sizeOf,
    isUnavailable,
  })

export interface SendDeps extends DraftDeps {
  drafts: DraftStore
  notifier: Notifier
  plans: Plans
  rates: RateLimits
}

/** Messages that an agent may send in a minute. */
const SENDS_A_MINUTE = 60

/** Counted for each workspace that asks, so that none can use up another's. */
const ensureRate = ({ rates }: SendDeps, { agentId, workspaceId }: Sender): void => {
  const { allowed, limit, resetSeconds } = rates.take(`send:${workspaceId}:${agentId}`, SENDS_A_MINUTE)
  if (!allowed)
    throw new AppError('rate_limited', `An agent can send at most ${limit} messages a minute.`, {
      retryAfter: resetSeconds,
    })
}

/** How long a message may wait for its turn and be stored. */
const TURN_MS = 30_000

/**
 * Stores a message of a workspace that may send no more than so many, alone and one after the other: the last
 * one is the last.
 */
const storeCounted = ({ prisma, clock }: SendDeps, made: Draft): Promise<Placed | null> =>
  prisma.$transaction(
    async (tx) => {
      await ensureRoomToSend(tx, clock, made.message.workspaceId)
      return (await storeDrafts(within(tx), [made]))[0] ?? null
    },
    { timeout: TURN_MS, maxWait: 5_000 },
  )

const send = async (
  deps: SendDeps,
  { workspaceId }: Viewer,
  agentId: string,
  input: SendInput,
): Promise<MessageWithFiles> => {
  const made = await draft(deps, { agentId, workspaceId }, input)
  const limited = await deps.plans.ensureMaySend(workspaceId)
  ensureRate(deps, { agentId, workspaceId })
  const placed = await (limited ? storeCounted(deps, made) : deps.drafts.add(made))
  if (!placed)
    throw new AppError('conflict', `The agent has no address on the ${made.message.channel} channel.`)
  deps.notifier.publish(SEND_DUE, 'send')
  deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${made.message.id}`)
  return { ...made.message, ...placed, attachments: made.files }
}

/** Takes a message to send. It is committed with its job when this resolves, with status `sending`. */
export const sendMessage = async (
  deps: SendDeps,
  viewer: Viewer,
  agentId: string,
  input: SendInput,
): Promise<MessageWithFiles> => {
  try {
    authorizeAgent(viewer, { id: agentId, workspaceId: viewer.workspaceId, createdByAgentId: null })
    return await send(deps, viewer, agentId, input)
  } catch (error) {
    // The statement that stores it sees whether the workspace has the agent: a look of its own cost a fifth
    // of a send. Who can't reach it is told that first.
    await findAgent(deps, viewer, agentId)
    throw error
  }
}
