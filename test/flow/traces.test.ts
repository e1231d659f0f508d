import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test, vi } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A span as OTLP/HTTP transmits it in JSON. */
interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  status: { code: number }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

const spans: Span[] = []
const bodies: string[] = []
const collector = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    bodies.push(body)
    if (request.url === '/v1/traces')
      for (const { scopeSpans } of JSON.parse(body).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans)
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
})

let service: TestService
let agent: TestAgent
let receiver: Receiver
beforeAll(async () => {
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  afterFile(() => void collector.close())
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50')
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  // The mail is received by one process and delivered by another.
  service = await startService({
    environment: { ROLES: 'api,smtp', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'mailroom' },
  })
  await service.again({ ROLES: 'worker' })
  vi.unstubAllEnvs()
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  receiver = await createReceiver()
  afterFile(() => receiver.close())
  await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/hook` })
})

const named = (name: string, traceId?: string) =>
  until(() => spans.find((span) => span.name === name && (!traceId || span.traceId === traceId)))
const facts = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

test('one trace leads from SMTP DATA through the stored message to the webhook of another process', async () => {
  await post(service, { from: 'ann@example.com', to: agent.address, subject: 'Hush', text: 'hush-hush' })
  const [delivery] = await receiver.got('/hook', 1)
  const data = await named('SMTP DATA')
  const stored = await named('store message', data.traceId)
  const attempt = await named('webhook delivery', data.traceId)
  expect([data.kind, stored.kind, attempt.kind]).toEqual([2, 1, 3])
  expect([stored.parentSpanId, attempt.parentSpanId]).toEqual([data.spanId, stored.spanId])
  expect(delivery!.headers.traceparent).toBe(`00-${attempt.traceId}-${attempt.spanId}-01`)
  expect(facts(attempt)).toMatchObject({ outcome: 'delivered', attempt: 1, 'http.response.status_code': 204 })
  expect(facts(stored)).toMatchObject({ channel: 'email' })
  expect(bodies[0]).toContain('mailroom')
})

test('a failed attempt is an error of the same trace, and the next one belongs to it too', async () => {
  receiver.answer('/hook', 500)
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'again' })
  const [, failed] = await receiver.got('/hook', 2)
  const traceId = failed!.headers.traceparent!.split('-')[1]!
  const attempt = await named('webhook delivery', traceId)
  expect(attempt.status.code).toBe(2)
  expect(facts(attempt)).toMatchObject({ outcome: 'failed', 'http.response.status_code': 500 })
})

test('a request continues its caller’s trace to the webhook that gets the message', async () => {
  const other = await createTestAgent(service, await service.workspace())
  await other.api('POST', `/agents/${other.id}/webhooks`, { url: `${receiver.url}/url` })
  await other.api('PUT', `/agents/${other.id}/access/url`, { admit: 'team', senders: [] })
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  const sent = await other.api('POST', `/agents/${other.id}/url`, { text: 'hush' }, { traceparent })
  expect(sent.status).toBe(200)
  expect(sent.text).not.toContain('traceparent')
  const request = await named('HTTP POST rest_write', traceId)
  const attempt = await named('webhook delivery', traceId)
  const handover = await named('hand over message', traceId)
  expect(request.parentSpanId).toBe('00f067aa0ba902b7')
  expect([handover.parentSpanId, attempt.parentSpanId]).toEqual([request.spanId, handover.spanId])
  expect(facts(request)).toMatchObject({ 'http.response.status_code': 200 })
  expect(facts(request)['request.id']).toBe(sent.headers.get('x-request-id'))
})

test('a malformed traceparent starts a new trace, and readers of the log never see one', async () => {
  const parents = [
    'x',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `ff-${'a'.repeat(32)}-00f067aa0ba902b7-01`,
  ]
  for (const traceparent of parents)
    expect(
      (await agent.api('GET', `/agents/${agent.id}/events?after=0`, undefined, { traceparent })).status,
    ).toBe(200)
  const log = await agent.api('GET', `/agents/${agent.id}/events?after=0`)
  expect(log.body.items.length).toBeGreaterThanOrEqual(2)
  expect(log.text).not.toContain('trace')
  for (const { body } of receiver.received) expect(body).not.toContain('trace')
})

test('spans contain no text, subject, address or token', async () => {
  await until(() => spans.some(({ name }) => name === 'HTTP GET rest_read'))
  const all = bodies.join('')
  for (const secret of ['hush', 'Hush', 'ann@example.com', agent.address, agent.token])
    expect(all).not.toContain(secret)
})

test('without a collector no header is added and no trace is stored with the event', async () => {
  const plain = await startService()
  const owner = await plain.workspace()
  const bot = await createTestAgent(plain, owner)
  await bot.api('PUT', `/agents/${bot.id}/access/email`, { admit: 'anyone', senders: [] })
  await bot.api('POST', `/agents/${bot.id}/webhooks`, { url: `${receiver.url}/plain` })
  await post(plain, { from: 'ann@example.com', to: bot.address, text: 'hi' })
  const [delivery] = await receiver.got('/plain', 1)
  expect(delivery!.headers).not.toHaveProperty('traceparent')
  const [event] = await plain.db.prisma.event.findMany({ where: { agentId: bot.id } })
  expect(event!.detail).toMatchObject({ mayInstruct: false })
  expect(event!.detail).not.toHaveProperty('traceparent')
})
