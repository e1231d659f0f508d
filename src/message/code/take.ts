import { type AwaitNewsDeps, findAgent, findOrAwait, type Waiting } from '../../agent/index.ts'
import { normalizeLoosely } from '../../core/address/email-address.ts'
import { toHostname } from '../../core/address/hostname.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import type { Db } from '../../db/client.ts'
import type { News } from '../../db/news.ts'
import { within } from '../../db/transaction.ts'
import { type Guards, keepSecret, type SecretDeps } from '../../secret/index.ts'
import { audit, type Viewer } from '../../workspace/index.ts'
import { type StoredCode, type TakenRow, takeStatement, type Wanted } from './queue.ts'

export interface TakeDeps extends Db, SecretDeps, AwaitNewsDeps {
  codeNews: News
  guards: Pick<Guards, 'changed'>
}

/** Which code somebody takes, and what becomes of it. */
export interface CodeWanted {
  /** The sender: an address, `*@domain`, or a domain with those below it. */
  from?: string | undefined
  kind?: StoredCode['kind'] | undefined
  purpose?: StoredCode['purpose'] | undefined
  since?: Date | undefined
  /** How long to wait for one. */
  seconds?: number | undefined
  unproven?: boolean | undefined
  /** The name of the secret that the value becomes, instead of being returned. */
  as?: string | undefined
}

export interface TakenCode extends Omit<StoredCode, 'value'> {
  /** Left out if it became a secret. */
  value?: string
  messageId: string
  from: string
  at: Date
}

/** How far back codes are taken by default, and how long one is kept as a secret. */
const RECENT_MS = 10 * 60_000
const KEPT_MS = 10 * 60_000

const FROM =
  'must be an email address, *@ with a domain, a domain, or a phone number, short code or name that sends SMS'

type Sender = Pick<Wanted, 'address' | 'domain' | 'below'>

/** Returns what a sender is looked up by. Throws `invalid_input`. */
const senderOf = (from: string | undefined): Sender => {
  const nobody = { address: null, domain: null, below: null }
  const given = from?.trim()
  if (given === undefined) return nobody
  if (given.includes('@')) {
    const domain = given.startsWith('*@') ? toHostname(given.slice(2)) : null
    if (domain !== null) return { ...nobody, domain }
    const address = given.startsWith('*@') ? '' : normalizeLoosely(given)
    if (address === '') throw invalidInput('from', FROM)
    return { ...nobody, address }
  }
  const domain = given.includes('.') ? toHostname(given) : null
  if (domain !== null) return { ...nobody, domain, below: `.${domain}` }
  if (given === '') throw invalidInput('from', FROM)
  const number = given.replace(/[\s().-]/g, '')
  return { ...nobody, address: /^\+?\d+$/.test(number) ? number : lowerCase(given) }
}

const TRANSACTION = { timeout: 15_000, maxWait: 5_000 }

/** Takes an available code, records to whom it was given, and makes it a secret if that was requested: all of it or nothing. */
const takeStored = (
  deps: TakeDeps,
  viewer: Viewer,
  wanted: Wanted,
  name: string | undefined,
): Promise<TakenCode | null> =>
  deps.prisma.$transaction(async (tx) => {
    const inside = { ...deps, ...within(tx) }
    const { rows } = await inside.pool.query<TakenRow>(takeStatement(wanted))
    if (!rows[0]) return null
    const { message_id: messageId, counterpart: from, created_at: at, code } = rows[0]
    const { agentId } = wanted
    const { value, ...rest } = code
    if (name !== undefined)
      await keepSecret(
        inside,
        viewer,
        { id: agentId, workspaceId: viewer.workspaceId },
        { name, value, expiresInMs: KEPT_MS },
      )
    const detail = { message: messageId, kind: code.kind, purpose: code.purpose, from }
    await audit(inside, viewer, {
      ...{ action: 'code.take', agentId },
      detail: name === undefined ? detail : { ...detail, secret: name },
    })
    return { ...(name === undefined ? { value } : {}), ...rest, messageId, from, at }
  }, TRANSACTION)

/**
 * Gives out the newest code or link of an agent's messages that was not given out, to whoever asks first; waits for one if there is
 * none. Only of senders that are proven, unless others are asked for. Waiting makes nobody a listener. The audit log records who got
 * it. With an `Idempotency-Key` the code and the response commit together, so that a repeated request gets the same one.
 *
 * Throws `not_found` when there is none, and `conflict` for the name of a secret that is kept.
 */
export const takeCode = async (
  deps: TakeDeps,
  viewer: Viewer,
  agentId: string,
  { from, kind, purpose, since, seconds = 0, unproven = false, as }: CodeWanted,
  waiting: Waiting,
): Promise<TakenCode> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  const sender = senderOf(from)
  const started = deps.clock.now().getTime()
  const wanted: Wanted = {
    ...{ agentId, kind: kind ?? null, purpose: purpose ?? null, unproven, ...sender },
    since: since ?? new Date(started - RECENT_MS),
  }
  await deps.keyring.load(workspaceId)
  const find = async (isGone: boolean): Promise<TakenCode | null> => {
    // A client that has gone gets nothing: another may.
    const taken = isGone ? null : await takeStored(deps, viewer, wanted, as)
    if (taken && as !== undefined) deps.guards.changed(deps, agentId)
    return taken
  }
  const taken = await findOrAwait(deps, viewer, { agentId, news: deps.codeNews, seconds, find }, waiting)
  if (!taken) throw noCode()
  return taken
}

const noCode = () =>
  new AppError('not_found', 'No such code or link has arrived, or it was given out already.')
