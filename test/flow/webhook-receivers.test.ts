import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Json, RECEIVERS } from '../support/webhook-receivers.ts'

/** Mails reach receivers that know nothing of this service, each in the form that its own documentation asks for. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let receiver: Receiver
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner, 'Front Desk')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  receiver = await createReceiver()
})
afterAll(() => receiver.close())

const read = async (webhookId: string) => {
  const list = `/agents/${agent.id}/webhooks/${webhookId}/deliveries`
  const items = await until(async () => {
    const { body } = await agent.api('GET', list)
    return body.items.length > 0 && body.items.every(({ status }: Json) => status !== 'pending') && body.items
  })
  return Promise.all(items.map(async ({ id }: Json) => (await agent.api('GET', `${list}/${id}`)).body))
}

test.each(Object.entries(RECEIVERS))('%s', async (_name, { path, headers, body, fault, answer }) => {
  const refused: string[] = []
  receiver.always(path, (res, got) => {
    const reason = fault(got.headers, JSON.parse(got.body))
    if (reason !== null) refused.push(reason)
    res.writeHead(reason === null ? answer.status : 400).end(reason ?? answer.body)
  })
  const added = await agent.api('POST', `/agents/${agent.id}/webhooks`, {
    url: receiver.url + path,
    headers,
    body,
  })
  expect(added.status).toBe(201)
  receiver.expect(path, added.body.secret)
  const subject = `Grüße "from" {{data.agent.id}} ${'x'.repeat(100)} \\`
  await post(service, {
    from: '"Ann \\"A\\" É" <ann@example.com>',
    to: agent.address,
    subject,
    text: 'not in the event',
  })
  const [sent] = await receiver.got(path, 1)
  expect(refused).toEqual([])
  // `standardwebhooks` has verified the signature of exactly these bytes.
  expect(sent!.verified).toEqual(JSON.parse(sent!.body))
  expect(sent!.body).toContain('ann@example.com')
  expect(sent!.body).toContain(JSON.stringify(subject).slice(1, -1))
  expect(sent!.headers['content-type']).toBe('application/json')
  const [delivery] = await read(added.body.id)
  expect(delivery).toMatchObject({
    status: 'delivered',
    request: { url: receiver.url + path, body: sent!.body },
  })
  const shown = JSON.stringify(delivery) + added.text
  for (const value of Object.values(headers ?? {}))
    expect(shown.replaceAll(sent!.body, '')).not.toContain(value)
  expect((await agent.api('DELETE', `/agents/${agent.id}/webhooks/${added.body.id}`)).status).toBe(204)
})
