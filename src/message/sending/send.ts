import { authorizeAgent, findAgent } from '../../agent/index.ts'
import type { Check } from '../../core/channel/inbound.ts'
import { CHANNELS, type ChannelKind } from '../../core/channels.ts'
import { AppError } from '../../core/errors.ts'
import { ensureScope } from '../../core/scopes.ts'
import type { Notifier } from '../../db/notify.ts'
import { sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { outsideTransactionOf, within as withinTx } from '../../db/transaction.ts'
import type { Feed } from '../../event/index.ts'
import { type LeakDeps, recordingLeaks } from '../../secret/index.ts'
import { ensureRoomToSend, type Plans, type RateLimits, type Viewer } from '../../workspace/index.ts'
import { type ApprovalRequestDeps, requestApproval } from '../approval/approval-request.ts'
import type { FieldDeps } from '../approval/fields.ts'
import { writerOf } from '../stored/author.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import { type MessageWithFiles, toRow } from '../stored/row.ts'
import { SEND_DUE } from '../stored/send-job.ts'
import type { Compared } from './decide-holds.ts'
import { guarded } from './guard.ts'
import { type Outgoing, type OutgoingDeps, outgoingOf } from './outgoing.ts'
import { PLACE } from './place.ts'
import type { SendInput } from './send-intent.ts'
import { OUTDATED, type OutgoingStore, type Placed, type StoredAs, storeOutgoing } from './store-outgoing.ts'
import { optedOutOf } from './suppressed-recipients.ts'

export interface SendDeps extends OutgoingDeps, ApprovalRequestDeps, LeakDeps, FieldDeps {
  drafts: OutgoingStore
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
  plans: Plans
  rates: RateLimits
}

/** Writes the contents that leave the database to the object store, outside the request's transaction. */
const placeFiles = async ({ blobs, outsideTransaction }: SendDeps, created: Outgoing): Promise<Outgoing> => {
  const { message, attachments } = created
  if (!attachments.some(({ content }) => content.byteLength >= blobs.minBytes)) return created
  const contents = attachments.map(({ content }) => content)
  return { ...created, blobs: await outsideTransaction(() => blobs.place(message, contents)) }
}

/** The request's own files come after those that are forwarded, which stay in the database. */
const withObjects = (created: Outgoing, objects: readonly (string | null)[]): Outgoing => {
  const forwarded = created.attachments.slice(objects.length).map(() => null)
  return { ...created, blobs: [...forwarded, ...objects] }
}

/** Maximum number of messages that an agent may send per minute. @limit Sending */
const SENDS_A_MINUTE = 60

/** Counted per calling workspace, so that none can use up another's limit. */
const ensureRate = ({ rates }: SendDeps, agentId: string, workspaceId: string): void => {
  const { allowed, limit, resetSeconds } = rates.take(`send:${workspaceId}:${agentId}`, SENDS_A_MINUTE)
  if (!allowed)
    throw new AppError('rate_limited', `An agent can send at most ${limit} messages a minute.`, {
      retryAfter: resetSeconds,
    })
}

/** Maximum time a message may wait for its turn and be stored, in milliseconds. */
const TURN_MS = 30_000

/**
 * Stores a message of a workspace whose plan limits sending. Such messages are stored one after the other, so
 * that the limit is never exceeded.
 */
const storeCounted = ({ prisma, clock }: SendDeps, created: Compared): Promise<StoredAs> =>
  prisma.$transaction(
    async (tx) => {
      await ensureRoomToSend(tx, clock, created.message.workspaceId)
      return (await storeOutgoing(withinTx(tx), [created]))[0] ?? null
    },
    { timeout: TURN_MS, maxWait: 5_000 },
  )

/** How often a message is compared with its agent's secrets while they change again and again. */
const MAX_COMPARISONS = 5

/**
 * Compares a message with its agent's secrets and stores it. Nothing is read for that: the statement that stores it fits
 * the secrets that this process knows of, or none, and skips a message of an agent with others.
 */
const storeCompared = async (
  deps: SendDeps,
  viewer: Viewer,
  drafted: Outgoing,
  { limited, placed: objects }: { limited: boolean; placed: SendOptions['placed'] },
): Promise<{ placed: Placed | null; checks: Check[] }> => {
  const { agentId } = drafted.message
  const read = async ({ outsideTransaction }: SendDeps) =>
    (await outsideTransaction((db) => deps.guards.current(db, agentId))) ?? undefined
  let guard = deps.guards.known(agentId) ?? (limited ? await read(deps) : undefined)
  let created: Outgoing | undefined
  // Where sends are counted, the workspace is locked then, until the request's transaction ends.
  let within = deps
  for (let comparisons = 0; comparisons < MAX_COMPARISONS; comparisons++) {
    const compared = await guarded(within, viewer, drafted, guard)
    created ??= objects ? withObjects(drafted, objects) : await placeFiles(deps, drafted)
    const outgoing = { ...created, guarded: compared }
    const placed = await (limited ? storeCounted(deps, outgoing) : deps.drafts.add(deps, outgoing))
    if (placed !== OUTDATED) return { placed, checks: compared.held ? [compared.held] : [] }
    if (limited) within = { ...deps, outsideTransaction: outsideTransactionOf(deps) }
    guard = await read(within)
  }
  throw new AppError('conflict', "The agent's secrets are being changed. Try again.")
}

const SENDING_ADDRESS = statement<{ messages: string }>(
  'sending address',
  ({ messages }) => sql`
    select a.value as "from" from json_populate_recordset(null::message, ${messages}) m
     cross join lateral (${PLACE}) place join address a on a.id = place.id`,
)

/** Throws `conflict`, naming those who texted STOP to the number that this message would go out from. */
const ensureNoneOptedOut = async (deps: SendDeps, { message, recipients }: Outgoing): Promise<void> => {
  if (!CHANNELS[message.channel as ChannelKind].optOut) return
  const messages = JSON.stringify([toRow(message)])
  const { rows } = await deps.pool.query<{ from: string }>(SENDING_ADDRESS({ messages }))
  const [place] = rows
  const closed = place ? await optedOutOf(deps, place.from, recipients) : []
  if (closed.length > 0) throw new AppError('conflict', `${closed.join('. ')}.`)
}

export interface SendOptions {
  /** Throw `conflict` for recipients who have opted out. Without it, the message is stored and then fails. */
  refuseOptedOut?: boolean
  /**
   * The objects of the request's own files, null for each that stays in the database. Nothing is written to the
   * object store then: a transaction is open.
   */
  placed?: readonly (string | null)[]
}

const send = async (
  deps: SendDeps,
  viewer: Viewer,
  agentId: string,
  input: SendInput,
  { refuseOptedOut = false, placed: objects }: SendOptions,
): Promise<MessageWithFiles> => {
  const { workspaceId, tokenId, requestId } = viewer
  // The recipients read what is forwarded.
  if (input.forward !== undefined) ensureScope(viewer, 'messages:read')
  const sender = { agentId, workspaceId, by: writerOf(viewer), sentWith: { tokenId, requestId } }
  const drafted = await outgoingOf(deps, sender, input)
  if (refuseOptedOut) await ensureNoneOptedOut(deps, drafted)
  const limited = await deps.plans.ensureMaySend(deps, workspaceId)
  ensureRate(deps, agentId, workspaceId)
  const { placed, checks } = await storeCompared(deps, viewer, drafted, { limited, placed: objects })
  if (!placed)
    throw new AppError('conflict', `The agent has no address on the ${drafted.message.channel} channel.`)
  const { marksRead, events, ...place } = placed
  deps.afterCommit(() => deps.feed.committed(events))
  const { message: sent, files } = drafted
  const message = {
    ...sent,
    ...place,
    checks: checks.map((check) => ({ ...check })),
    attachments: files,
    mayInstruct: false,
  }
  if (message.holdReason === null) deps.afterCommit(() => deps.notifier.publish(SEND_DUE, agentId))
  if (message.holdReason === 'approval') await requestApproval(deps, message)
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${message.id}`))
  if (marksRead)
    deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${message.replyToId}`))
  return message
}

/** Does the same as `sendMessage` as a part of a transaction, without recording a message that is refused. */
export const sendWithin = async (
  deps: SendDeps,
  viewer: Viewer,
  agentId: string,
  input: SendInput,
  options: SendOptions = {},
): Promise<MessageWithFiles> => {
  try {
    authorizeAgent(viewer, { id: agentId, workspaceId: viewer.workspaceId, createdByAgentId: null })
    return await send(deps, viewer, agentId, input, options)
  } catch (error) {
    // The statement that stores the message also checks that the workspace has the agent
    // (docs/decisions.md#no-separate-check). A viewer without access gets that error first. Nothing can be read after the
    // database has failed: it refuses all further statements of the transaction.
    if (error instanceof AppError) await findAgent(deps, viewer, agentId)
    throw error
  }
}

/**
 * Accepts a message to send. Once this resolves, it is committed with its job, with status `sending`. Throws `forbidden`
 * for one that contains values of the agent's secrets, and records it, unless the agent's setting lets it pass or wait.
 */
export const sendMessage = (
  deps: SendDeps,
  viewer: Viewer,
  agentId: string,
  input: SendInput,
  options: SendOptions = {},
): Promise<MessageWithFiles> =>
  recordingLeaks(deps, viewer, agentId, () => sendWithin(deps, viewer, agentId, input, options))
