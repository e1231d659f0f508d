import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { AmsError, verifyWebhook, type WebhookPayload } from '../../src/client/index.ts'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
const PAYLOAD = {
  eventId: 'evt_a_1',
  name: 'message.received',
  data: { message: { text: 'Grüße' } },
  cursor: '1',
}
const BODY = JSON.stringify(PAYLOAD)

const signed = (body = BODY, at = new Date(), secret = SECRET): Record<string, string> => ({
  'webhook-id': 'evt_a_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign('evt_a_1', at, body),
})
const request = (headers: Record<string, string>, body = BODY) =>
  new Request('http://x.example/', { method: 'POST', headers, body })
const refused = expect.objectContaining({ code: 'bad_signature' })

test("a request of fetch's kind, signed by the reference library, is verified and read", async () => {
  expect(await verifyWebhook(request(signed()), SECRET)).toEqual(PAYLOAD)
})

test.each([
  ['text', BODY],
  ['bytes', Buffer.from(BODY)],
])('headers with the body as %s are enough', async (_, body) => {
  expect(await verifyWebhook({ headers: signed(), body }, SECRET)).toEqual(PAYLOAD)
})

test("a request of Node's http server is verified and read", async () => {
  const answers: (WebhookPayload | unknown)[] = []
  const server = createServer(async (incoming, response) => {
    answers.push(await verifyWebhook(incoming, SECRET).catch((error: unknown) => error))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await fetch(url, { method: 'POST', headers: signed(), body: BODY })
  await fetch(url, { method: 'POST', headers: signed(), body: `${BODY} ` })
  server.close()
  expect(answers).toEqual([PAYLOAD, refused])
})

test('either of two secrets is enough, and either of two signatures', async () => {
  expect(await verifyWebhook(request(signed()), [OTHER, SECRET])).toEqual(PAYLOAD)
  const both = signed()
  both['webhook-signature'] =
    `v1a,AAAA v1,%% ${signed(BODY, new Date(), OTHER)['webhook-signature']} ${both['webhook-signature']}`
  expect(await verifyWebhook(request(both), SECRET)).toEqual(PAYLOAD)
})

test.each([
  ['another secret', signed(BODY, new Date(), OTHER)],
  ['a signature of six minutes ago', signed(BODY, new Date(Date.now() - 360_000))],
  ['a signature of the future', signed(BODY, new Date(Date.now() + 360_000))],
  ['another id', { ...signed(), 'webhook-id': 'evt_a_2' }],
  ['a timestamp that is no number', { ...signed(), 'webhook-timestamp': 'now' }],
  ['no signature', { 'webhook-id': 'x', 'webhook-timestamp': '1' }],
])('%s is refused', async (_, headers) => {
  const thrown = await verifyWebhook(request(headers), SECRET).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(AmsError)
  expect(thrown).toEqual(refused)
})

test('a body that was parsed already is refused with the reason', async () => {
  await expect(verifyWebhook({ headers: signed(), body: PAYLOAD as never }, SECRET)).rejects.toThrow(
    /was parsed/,
  )
})

test('a body that goes on and on is not read to its end', async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(65_536)
  }
  const given = Object.assign(endless(), { headers: signed() })
  await expect(verifyWebhook(given, SECRET)).rejects.toThrow(/larger than/)
})
