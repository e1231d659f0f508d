import { beforeAll, describe, expect, test } from 'vitest'
import type { Channel } from '../../src/channel/channel.ts'
import type { Inbound } from '../../src/core/channel/inbound.ts'
import type { Outbound, SendResult } from '../../src/core/channel/outbound.ts'
import { sinkWith } from '../support/sink.ts'

/**
 * The contract of `channel/channel.ts` for every channel. Each channel supplies its remote side, and its valid
 * and invalid addresses.
 */

/**
 * The response to the remote side for an inbound message: it was accepted, it must be retried, or it is
 * refused permanently.
 */
export type Receipt = 'accepted' | 'retry' | 'refused'

/** How the remote side responds to a send. */
export type Behavior = 'accepts' | 'refuses permanently' | 'refuses temporarily' | 'is down'

export interface ChannelCase {
  channel: Channel
  /** Spellings of addresses with the one that is stored. */
  spellings: readonly (readonly [given: string, stored: string])[]
  malformed: readonly string[]
  /** The addresses of an agent and of an outside contact, as they are stored. */
  ours: string
  theirs: string
  /** Sets the sink that receives inbound messages from now on. */
  setSink(sink: Parameters<NonNullable<Channel['routes']>>[0]): void
  /** Sends a message from the contact to the agent. */
  receive(text: string): Promise<Receipt>
  /** Sets how the remote side responds from now on. */
  behave(behavior: Behavior): Promise<void>
  /** The reason that the remote side gives when it refuses. */
  reason: string
  /** Values that must never appear in a result or a log. */
  credentials: readonly string[]
  log(): string
}

const outbound = ({ ours, theirs }: ChannelCase, text = 'Hello'): Outbound => ({
  from: { address: ours, name: 'Support Bot' },
  envelopeTo: [theirs],
  to: [theirs],
  cc: [],
  subject: null,
  text,
  messageId: '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
  inReplyTo: null,
  references: [],
  attachments: [],
  createdAt: new Date('2026-11-20T10:00:00Z'),
})

const named = ({ accepted, rejected, pending = [] }: SendResult) => [
  ...accepted,
  ...pending,
  ...rejected.map(({ recipient }) => recipient),
]

const codeOf = (attempt: () => unknown): unknown => {
  try {
    attempt()
    return null
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

/** Runs the suite against a channel. */
export const describeChannel = (name: string, arrange: () => Promise<ChannelCase>): void => {
  describe(`the channel ${name}`, () => {
    let at: ChannelCase
    beforeAll(async () => {
      at = await arrange()
    })
    const send = (signal = new AbortController().signal) => at.channel.send(outbound(at), signal)

    test('normalizes addresses, and leaves normalized addresses unchanged', () => {
      for (const [given, stored] of at.spellings) {
        expect(at.channel.normalize(given)).toBe(stored)
        expect(at.channel.normalize(stored)).toBe(stored)
      }
    })

    test('refuses malformed addresses with invalid_input', () => {
      for (const malformed of ['', ' ', 'a\0b', 'a\r\nb', '\ud800', 'x'.repeat(320), ...at.malformed]) {
        expect({ malformed, code: codeOf(() => at.channel.normalize(malformed)) }).toEqual({
          malformed,
          code: 'invalid_input',
        })
      }
    })

    test('passes an inbound message to the sink, and responds only after it is stored', async () => {
      const order: string[] = []
      const got: Inbound[] = []
      at.setSink(
        sinkWith({
          inbound: async (message) => {
            got.push(message)
            await new Promise((resolve) => setImmediate(resolve))
            order.push('stored')
          },
        }),
      )
      expect(await at.receive('Where is my order? 🚚')).toBe('accepted')
      expect([...order, 'answered']).toEqual(['stored', 'answered'])
      expect(got).toMatchObject([
        { channel: at.channel.kind, recipients: [at.ours], from: { address: at.theirs } },
      ])
      expect(got[0]!.text.trim()).toBe('Where is my order? 🚚')
      expect(at.channel.normalize(got[0]!.from.address)).toBe(got[0]!.from.address)
    })

    test('asks for a retry of a message that could not be stored', async () => {
      at.setSink(sinkWith({ inbound: () => Promise.reject(new Error('the database is unavailable')) }))
      expect(await at.receive('once more')).toBe('retry')
    })

    test('sends a message, with every recipient accepted or pending', async () => {
      await at.behave('accepts')
      const result = await send()
      expect(named(result)).toEqual([at.theirs])
      expect(result.rejected).toEqual([])
    })

    test.each([
      ['refuses permanently', true],
      ['refuses temporarily', false],
    ] as const)('returns the reason of the remote side when it %s', async (behavior, permanent) => {
      await at.behave(behavior)
      const result = await send()
      expect(result).toMatchObject({ accepted: [], rejected: [{ recipient: at.theirs, permanent }] })
      expect(result.rejected[0]!.reason).toContain(at.reason)
    })

    test('returns a temporary failure when the remote side is down and when the send is aborted', async () => {
      await at.behave('is down')
      expect(await send()).toMatchObject({
        accepted: [],
        rejected: [{ recipient: at.theirs, permanent: false }],
      })
      await at.behave('accepts')
      const broken = await send(AbortSignal.abort())
      expect(broken.rejected.every(({ permanent }) => !permanent)).toBe(true)
    })

    test('does not expose its credentials in results and logs', async () => {
      const output: string[] = [at.log()]
      for (const behavior of ['refuses permanently', 'refuses temporarily', 'is down'] as const) {
        await at.behave(behavior)
        output.push(JSON.stringify(await send()))
      }
      for (const credential of at.credentials) expect(output.join('\n')).not.toContain(credential)
    })
  })
}
