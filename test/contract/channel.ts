import { beforeAll, describe, expect, test } from 'vitest'
import type { Channel, Inbound, Outbound, SendResult } from '../../src/channel/channel.ts'
import { sinkWith } from '../support/sink.ts'

/**
 * The port as `channel/channel.ts` promises it, for every channel: each brings its other side and what is
 * right and wrong on its wire.
 */

/**
 * What the other side is told of a message that it hands in: it was taken, it should try again, or it is
 * refused for good.
 */
export type Receipt = 'taken' | 'later' | 'refused'

/** How the other side answers the next attempt to send. */
export type Mood = 'takes' | 'refuses for good' | 'refuses for now' | 'is down'

export interface ChannelCase {
  channel: Channel
  /** Spellings of addresses with the one that is stored. */
  spellings: readonly (readonly [given: string, stored: string])[]
  malformed: readonly string[]
  /** An agent's own address and somebody outside, both as they are stored. */
  ours: string
  theirs: string
  /** Which sink the channel hands over to from now on. */
  handOverTo(sink: Parameters<NonNullable<Channel['routes']>>[0]): void
  /** Somebody outside writes to an agent, or an impostor tries to in their name. */
  arrive(text: string): Promise<Receipt>
  /** How the other side answers from now on, and the words in which it refuses. */
  be(mood: Mood): Promise<void>
  words: string
  /** What must never be read in an answer or a log. */
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

    test('spells an address in one way, and its own spelling again the same', () => {
      for (const [given, stored] of at.spellings) {
        expect(at.channel.normalize(given)).toBe(stored)
        expect(at.channel.normalize(stored)).toBe(stored)
      }
    })

    test('refuses what is no address of its kind, by the rule', () => {
      for (const malformed of ['', ' ', 'a\0b', 'a\r\nb', '\ud800', 'x'.repeat(320), ...at.malformed]) {
        expect({ malformed, code: codeOf(() => at.channel.normalize(malformed)) }).toEqual({
          malformed,
          code: 'invalid_input',
        })
      }
    })

    test('knows who an entry of a list means, without case', () => {
      expect(at.channel.matches(at.theirs, at.theirs)).toBe(true)
      expect(at.channel.matches(at.theirs.toUpperCase(), at.theirs)).toBe(true)
      expect(at.channel.matches(at.ours, at.theirs)).toBe(false)
    })

    test('hands over what came in, and answers only once it is kept', async () => {
      const order: string[] = []
      const got: Inbound[] = []
      at.handOverTo(
        sinkWith({
          inbound: async (message) => {
            got.push(message)
            await new Promise((resolve) => setImmediate(resolve))
            order.push('kept')
          },
        }),
      )
      expect(await at.arrive('Where is my order? 🚚')).toBe('taken')
      expect([...order, 'answered']).toEqual(['kept', 'answered'])
      expect(got).toMatchObject([
        { channel: at.channel.kind, recipients: [at.ours], from: { address: at.theirs } },
      ])
      expect(got[0]!.text.trim()).toBe('Where is my order? 🚚')
      expect(at.channel.normalize(got[0]!.from.address)).toBe(got[0]!.from.address)
    })

    test('asks to be tried again for what could not be kept', async () => {
      at.handOverTo(sinkWith({ inbound: () => Promise.reject(new Error('the database is away')) }))
      expect(await at.arrive('once more')).toBe('later')
    })

    test('sends: every recipient is accepted or reported on later', async () => {
      await at.be('takes')
      const result = await send()
      expect(named(result)).toEqual([at.theirs])
      expect(result.rejected).toEqual([])
    })

    test.each([
      ['refuses for good', true],
      ['refuses for now', false],
    ] as const)('tells in its words that the other side %s', async (mood, permanent) => {
      await at.be(mood)
      const result = await send()
      expect(result).toMatchObject({ accepted: [], rejected: [{ recipient: at.theirs, permanent }] })
      expect(result.rejected[0]!.reason).toContain(at.words)
    })

    test('tries again when nobody is there, and when it is broken off', async () => {
      await at.be('is down')
      expect(await send()).toMatchObject({
        accepted: [],
        rejected: [{ recipient: at.theirs, permanent: false }],
      })
      await at.be('takes')
      const broken = await send(AbortSignal.abort())
      expect(broken.rejected.every(({ permanent }) => !permanent)).toBe(true)
    })

    test('keeps its credentials to itself', async () => {
      const said: string[] = [at.log()]
      for (const mood of ['refuses for good', 'refuses for now', 'is down'] as const) {
        await at.be(mood)
        said.push(JSON.stringify(await send()))
      }
      for (const credential of at.credentials) expect(said.join('\n')).not.toContain(credential)
    })
  })
}
