import type { Channel } from '../../../src/channel/channel.ts'
import type { Route } from '../../../src/core/channel/callback-route.ts'
import type { Inbound, Sink } from '../../../src/core/channel/inbound.ts'
import type { Outbound } from '../../../src/core/channel/outbound.ts'
import type { ChannelKind } from '../../../src/core/channels.ts'
import { AppError, invalidInput } from '../../../src/core/errors.ts'

/** A page as JSON over HTTP, in both directions. */
export interface Page {
  id: string
  from: string
  to: string
  text: string
}

const kind = 'pager' as string as ChannelKind
const MAX_CHARACTERS = 240
const MAX_BYTES = 4096

const normalize = (recipient: string): string => {
  const digits = recipient.trim()
  if (!/^\d{4,6}$/.test(digits)) throw invalidInput('to', 'a pager has 4 to 6 digits')
  return digits
}

const toInbound = ({ id, from, to, text }: Page): Inbound => ({
  channel: kind,
  recipients: [to],
  from: { address: from, name: null },
  to: [to],
  cc: [],
  subject: null,
  text,
  replyText: text,
  attachments: [],
  messageId: id,
  inReplyTo: null,
  references: [],
  proven: true,
  automatic: null,
  checks: [{ name: 'network', verdict: 'pass', detail: 'handed over by the pager network' }],
  raw: null,
})

const receivePages = (sink: Sink): Route => ({
  method: 'POST',
  path: '/channels/pager',
  maxBytes: MAX_BYTES,
  handle: async ({ body }) => {
    await sink.inbound(toInbound(JSON.parse(body.toString())))
    return { status: 204 }
  },
})

/** Sends a page. Returns why the network refused it, or null. */
const page = async (
  network: string,
  { from, text, messageId: id }: Outbound,
  to: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const body: Page = { id, from: from.address, to, text }
  const { status } = await fetch(network, { method: 'POST', body: JSON.stringify(body), signal })
  return status < 300 ? null : `the pager network said ${status}`
}

/** Pagers as an example of a new channel: copied into a folder below `src/channel`. */
export const createPagerChannel = (network: string): Channel => ({
  kind,
  limits: { text: MAX_CHARACTERS, subject: false, cc: false, files: false, coldStart: true },
  threads: 'counterpart',
  normalize,
  routes: (sink) => [receivePages(sink)],
  send: async (message, signal) => {
    const tried = message.envelopeTo.map(async (recipient) => ({
      recipient,
      reason: await page(network, message, recipient, signal),
    }))
    const results = await Promise.all(tried)
    return {
      accepted: results.flatMap(({ recipient, reason }) => (reason === null ? [recipient] : [])),
      rejected: results.flatMap(({ recipient, reason }) =>
        reason === null ? [] : [{ recipient, reason, permanent: true }],
      ),
    }
  },
  setUp: {
    label: 'The number of the pager',
    claim: async (input) => {
      const number = normalize(input)
      if (number.startsWith('0')) throw new AppError('conflict', `The pager network has no pager ${number}.`)
      return number
    },
  },
})
