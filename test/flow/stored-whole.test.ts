import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { whileRefusing } from '../support/rows.ts'
import { createTestAgent, type SharedService, sharedService, type TestAgent } from '../support/service.ts'

/**
 * A message is stored with everything that belongs to it, or not at all. In these tests, one of the tables
 * temporarily rejects rows.
 */

let service: SharedService
let receiver: Receiver
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  receiver = await createReceiver()
  const owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/hook` })
})
afterAll(() => receiver.close())

const without = <Result>(table: string, work: () => Promise<Result>) => whileRefusing(service.db, table, work)
const path = () => `/agents/${agent.id}`
const events = async () => (await agent.api('GET', `${path()}/events?limit=100`)).body.items
const withSubject = async (subject: string) =>
  (await agent.api('GET', `${path()}/messages?limit=100`)).body.items.filter(
    (message: { subject: string }) => message.subject === subject,
  )

test.each(['message_raw', 'attachment', 'event', 'job'])(
  'a mail whose %s cannot be stored gets 451, and is stored completely when it is sent again',
  async (table) => {
    const attachments = [{ filename: 'a.txt', content: 'contents' }]
    const subject = `Without ${table}`
    const mail = {
      from: `${table}@example.com`,
      to: agent.address,
      subject,
      text: 'hi',
      attachments,
      messageId: `<${table}@example.com>`,
    }
    const before = (await events()).length
    await expect(without(table, () => post(service, mail))).rejects.toMatchObject({ responseCode: 451 })
    expect(await withSubject(subject)).toEqual([])
    expect(await events()).toHaveLength(before)
    await post(service, mail)
    const [{ id, attachments: files }, ...others] = await withSubject(subject)
    expect([files, others]).toMatchObject([[{ name: 'a.txt', size: 8 }], []])
    expect((await agent.api('GET', `${path()}/messages/${id}/raw`)).text).toContain(`Subject: ${subject}`)
    expect((await events()).slice(before)).toMatchObject([{ id: before + 1, messageId: id }])
  },
)

test.each(['recipient', 'attachment', 'job'])(
  'an outgoing message whose %s cannot be stored is not accepted',
  async (table) => {
    const subject = `Sent without ${table}`
    const attachments = [
      { name: 'a.txt', type: 'text/plain', content: Buffer.from('contents').toString('base64') },
    ]
    const send = () =>
      agent.api('POST', `${path()}/messages`, {
        channel: 'email',
        to: ['bo@example.com'],
        subject,
        text: 'hi',
        attachments,
      })
    expect((await without(table, send)).status).toBe(500)
    expect(await withSubject(subject)).toEqual([])
    const { status, body } = await send()
    expect(status).toBe(201)
    expect(await withSubject(subject)).toMatchObject([{ id: body.id }])
  },
)
