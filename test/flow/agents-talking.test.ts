import { expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { newest, receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const TURNS = 20

const clock = createFakeClock()
const service = await startService({ world: { clock, resolver: fakeResolver(proves('example.com')) } })
const owner = await service.workspace()
const [ann, bob] = [
  await createTestAgent(service, owner, 'Ann'),
  await createTestAgent(service, owner, 'Bob'),
]
for (const agent of [ann, bob])
  await agent.api('PUT', `/agents/${agent.id}/access/email`, {
    admit: 'team',
    senders: [owner.email, 'bot@example.com'],
  })

// biome-ignore lint/suspicious/noExplicitAny: messages as the API returns them
type Json = any
const send = async (from: TestAgent, to: TestAgent, body: object): Promise<Json> => {
  const known = (await newest(to))[0]?.id
  const sent = await from.api('POST', `/agents/${from.id}/messages`, { text: 'And you?', ...body })
  expect(sent.status).toBe(201)
  return until(async () => {
    clock.advance(1_000)
    const [message] = await newest(to)
    return message?.direction === 'inbound' && message.id !== known && message
  })
}

/**
 * Makes two agents answer each other until one refuses a message. Returns the number of accepted messages,
 * and the refused one.
 */
const talkUntilRefused = async (
  first: Json,
  [speaker, listener]: [TestAgent, TestAgent],
): Promise<{ accepted: number; refused: Json }> => {
  let last = first
  for (let accepted = 1; ; accepted++) {
    last = await send(listener, speaker, { replyTo: last.id })
    if (last.status === 'refused' || accepted > 100) return { accepted, refused: last }
    ;[speaker, listener] = [listener, speaker]
  }
}

test('two agents that keep answering each other are stopped, and a person in their thread is not', {
  timeout: 120_000,
}, async () => {
  const opening = await send(ann, bob, { channel: 'email', to: [bob.address], subject: 'Ping' })
  const { accepted, refused } = await talkUntilRefused(opening, [ann, bob])
  expect(accepted).toBe(2 * TURNS)
  expect(refused).toMatchObject({ status: 'refused', refusal: 'self', admission: null })
  expect(refused.checks.at(-1)).toEqual({
    name: 'admission',
    verdict: 'self',
    detail: 'agents have sent it 20 messages in this thread within an hour',
  })

  const letter = {
    from: owner.email,
    to: bob.address,
    subject: 'Re: Ping',
    text: 'Enough of it.',
    inReplyTo: opening.thread.messageId,
  }
  expect(await receive(service, bob, letter)).toMatchObject({ status: 'received', admission: 'team' })

  const other = await send(ann, bob, { channel: 'email', to: [bob.address], subject: 'Something else' })
  expect(other).toMatchObject({ status: 'received' })

  // In the closed thread, not in the one that was started since.
  const [closed] = (await newest(ann, 100)).filter(({ subject }: Json) => subject === 'Re: Ping')
  expect(await send(ann, bob, { replyTo: closed.id })).toMatchObject({ status: 'refused', refusal: 'self' })
  clock.advance(HOUR_MS)
  expect(await send(ann, bob, { replyTo: closed.id })).toMatchObject({ status: 'received' })
})

test('an agent of another service is stopped by the mark in its mail, and a person is not', async () => {
  const letter = { from: 'bot@example.com', to: ann.address, subject: 'Ping', text: 'And you?' }
  const marked = { ...letter, headers: { 'X-Sent-By-Agent': 'yes' } }
  const opening = await receive(service, ann, marked)
  const answer = { inReplyTo: opening.thread.messageId }
  const statuses = [opening.status]
  while (statuses.length <= TURNS)
    statuses.push((await receive(service, ann, { ...marked, ...answer })).status)
  expect(statuses).toEqual([...Array(TURNS).fill('received'), 'refused'])
  const [{ refusal, checks }] = await newest(ann)
  expect(refusal).toBe('self')
  expect(checks).toContainEqual({
    name: 'agent',
    verdict: 'claimed',
    detail: 'the message declares that an agent sent it',
  })
  expect(await receive(service, ann, { ...letter, ...answer })).toMatchObject({ status: 'received' })
  expect(await receive(service, ann, marked)).toMatchObject({ status: 'received' })
})
