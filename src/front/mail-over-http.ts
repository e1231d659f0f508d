import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { readUpTo } from '../core/http/body.ts'
import { arrivalOf, clientOf } from '../core/http/http.ts'
import { type SlotLimits, TransferSlots } from '../core/http/transfer-slots.ts'
import { WindowCounts } from '../core/window-counts.ts'
import {
  checkSignatureForm,
  POSITIONS_HEADER,
  readRecipients,
  readSesRecipients,
  recipientCandidates,
  SES_MAX_BYTES,
} from '../mail/index.ts'
import { type Cell, unavailable } from './cells.ts'
import { pathOf } from './claims.ts'
import type { Found, Recipients } from './recipients.ts'

const PATH = /^\/inbound\/(email|ses)(?:\/|$)/

/** Mails over HTTP whose recipients are read and looked up at a time: no client's get in the way of all other lookups. */
const LOOKUPS: SlotLimits = { total: 16, perSource: 4, keepBytesPerSecond: 64 * 1024, reviewMs: 1_000 }
const WAIT_MS = 5_000

/**
 * Mails over HTTP from one address within 10 minutes that were not signed, or broken off; further ones get 429, because each has up to
 * 100 recipients to look up.
 * @limit Fronts
 */
const MAX_UNPROVEN = 100
const UNPROVEN_WINDOW_MS = 600_000

/** A mail that is handed over by HTTP, and where its recipients are. */
export interface HandedMail {
  readonly source: string
  /** Its recipients, as the sender named them, each with its installation; null if there is none. */
  readonly recipients: readonly { readonly named: string; readonly found: Found | null }[]
  /** The notification of Amazon SES; null for a body that has not been read. */
  readonly body: Buffer | null
}

/** An installation's answer: its headers as they were sent. */
export interface CellAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** Finds the installations of mail that is handed over by HTTP, and combines their answers. They check who sent it. */
export class MailOverHttp {
  readonly #recipients: Recipients
  readonly #clock: Clock
  readonly #slots = new TransferSlots(LOOKUPS)
  readonly #unproven: WindowCounts

  constructor(recipients: Recipients, clock: Clock) {
    this.#recipients = recipients
    this.#clock = clock
    this.#unproven = new WindowCounts(clock, UNPROVEN_WINDOW_MS)
  }

  /** Returns null for all other requests. Throws the installations' own errors for a mail without recipients. */
  async read(request: IncomingMessage): Promise<HandedMail | null> {
    const [, kind] = PATH.exec(pathOf(request.url ?? '')) ?? []
    if (request.method !== 'POST' || !kind) return null
    const source = clientOf(request)
    if (kind === 'email') checkSignatureForm(request.headers, this.#clock)
    if (source !== '' && this.#unproven.of(source) >= MAX_UNPROVEN)
      throw new AppError('rate_limited', 'Too much mail from your address was not signed.', {
        retryAfter: this.#unproven.resetSeconds,
      })
    const slot = await this.#slots.enter(arrivalOf(request), source, WAIT_MS)
    if (!slot) throw new AppError('unavailable', 'Too many calls at once.', { retryAfter: 5 })
    try {
      const body = kind === 'ses' ? await readNotification(request) : null
      const named = body ? readSesRecipients(body) : readRecipients(request.headers)
      const recipients = await Promise.all(
        named.map(async (one) => ({ named: one, found: await this.#recipients.find(one) })),
      )
      return { source, recipients, body }
    } finally {
      slot.leave()
    }
  }

  /** Counts a mail that was refused as not signed, or broken off before that could be checked. */
  noteUnproven({ source }: HandedMail): void {
    if (source !== '') this.#unproven.note(source)
  }

  /**
   * Returns the answer to a mail that these installations have answered: 200 if each of them has stored it. Otherwise a refusal, a
   * temporary one if there is any: the sender tries again, and an installation that has the mail recognises the copy.
   */
  async conclude(mail: HandedMail, answers: ReadonlyMap<Cell, CellAnswer | null>): Promise<CellAnswer> {
    const all = [...answers.values()].filter((answer) => answer !== null)
    if (all.some(({ status }) => status === 403)) this.noteUnproven(mail)
    if (all.length < answers.size) throw unavailable()
    const refusals = all.filter(({ status }) => status !== 200 && status !== 404)
    const refusal = refusals.find(({ status }) => status >= 500) ?? refusals[0]
    if (refusal && refusal.status < 500) return refusal
    const accepted = new Set(all.flatMap((answer) => (answer.status === 200 ? acceptedIn(answer) : [])))
    const isAccepted = (named: string) => recipientCandidates(named).some((address) => accepted.has(address))
    const rejected = mail.recipients.filter(({ named }) => !isAccepted(named))
    const isElsewhere = await Promise.all(rejected.map((each) => this.#mayBeElsewhere(each)))
    if (refusal) return refusal
    if (isElsewhere.includes(true)) throw unavailable()
    const stored = all.find(({ status }) => status === 200)
    const answer = { accepted: [...accepted], rejected: rejected.map(({ named }) => named) }
    return stored ? { ...stored, body: Buffer.from(JSON.stringify(answer)) } : all[0]!
  }

  /** Whether another installation than the one that has refused a recipient may have it. */
  async #mayBeElsewhere({ named, found }: HandedMail['recipients'][number]): Promise<boolean> {
    const current = found && (await this.#recipients.findAgain(named))
    return current !== null && (current.cell !== found?.cell || !current.isSure)
  }
}

/**
 * Returns the installations that have recipients of a mail, and the header for each that says which; without the header `other` if none
 * has any: it checks who sent the mail before it says so.
 */
export const partsOf = ({ recipients }: HandedMail, other: Cell): Map<Cell, readonly string[]> => {
  const parts = new Map<Cell, number[]>()
  for (const [n, { found }] of recipients.entries())
    if (found) parts.set(found.cell, [...(parts.get(found.cell) ?? []), n])
  if (parts.size === 0) return new Map([[other, []]])
  return new Map([...parts].map(([cell, positions]) => [cell, [POSITIONS_HEADER, positions.join()]]))
}

const readNotification = async (request: IncomingMessage): Promise<Buffer> => {
  // Not destroyed: it can still be answered.
  const body = await readUpTo(request.iterator({ destroyOnReturn: false }), SES_MAX_BYTES)
  if (!body) throw invalidInput('body', `must be at most ${SES_MAX_BYTES} bytes`)
  return body
}

const acceptedIn = ({ body }: CellAnswer): string[] =>
  (JSON.parse(body.toString()) as { accepted?: string[] }).accepted ?? []
