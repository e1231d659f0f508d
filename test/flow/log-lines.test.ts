import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { deliver } from '../support/mail.ts'
import { createReceiver } from '../support/receiver.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The log at its default level. */
const lines: { text: string; fields: Record<string, unknown> }[] = []
const write = (fields: object, text: string) =>
  void lines.push({ text, fields: fields as Record<string, unknown> })
const log: Logger = { ...silentLogger, info: write, warn: write, error: write, child: () => log }

const receiver = await createReceiver()
afterAll(() => receiver.close())
const service = await startService({ environment: { WEBHOOK_ALLOW: '127.0.0.1' }, log })
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)
const linesOf = (text: string) => lines.filter((line) => line.text === text).map(({ fields }) => fields)

test('each request, incoming message and delivery attempt has one log line, and none contains a secret', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  receiver.always('/hook?key=receivers-own', (res) => void res.writeHead(204).end())
  const { body: webhook } = await owner.api('POST', `/agents/${agent.id}/webhooks`, {
    url: `${receiver.url}/hook?key=receivers-own`,
  })
  await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'value-of-a-secret' })
  await deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'ann@example.com',
    to: agent.address,
    subject: 'subject-words',
    text: 'body-words',
  })
  await owner.api('POST', `/a/${agent.id}`, { text: 'url-words' })
  await until(
    () =>
      linesOf('webhook delivered').length === 2 &&
      linesOf('request').some(({ path }) => path === `/a/${agent.id}`),
  )

  const [mail, handed] = linesOf('webhook delivered')
  const common = {
    webhookId: webhook.id,
    agentId: agent.id,
    attempt: 1,
    outcome: 'delivered',
    status: 204,
    ms: expect.any(Number),
  }
  expect(mail).toMatchObject({ ...common, channel: 'email', event: expect.stringMatching(/^evt_\w+_1$/) })
  expect(handed).toMatchObject({ ...common, channel: 'url', event: expect.stringMatching(/^evt_\w+_2$/) })
  const [received] = linesOf('message received over SMTP')
  expect(received).toMatchObject({ outcome: 'accepted', recipients: [agent.address], transaction: 1 })
  const { session, transaction } = received!
  expect(linesOf('incoming message stored')).toMatchObject([
    {
      ...{ session, transaction, sender: 'ann@example.com', messageId: expect.any(String) },
      ...{ agentId: agent.id, channel: 'email', status: 'received', refusal: null },
      ...{ recipients: [agent.address], internetMessageId: expect.stringContaining('@') },
    },
  ])
  await fetch(`${service.http}/readyz`)
  // A line is written when its response is closed: that of the probe would stand before this one.
  await fetch(`${service.http}/healthz/nothing`)
  await until(async () => linesOf('request').some(({ path }) => path === '/healthz/nothing'))
  expect(linesOf('request').filter(({ path }) => path === '/readyz')).toEqual([])
  const by = { workspaceId: owner.id, kind: 'member', id: owner.member, tokenId: expect.any(String) }
  const request = {
    by,
    method: 'POST',
    path: `/a/${agent.id}`,
    status: 200,
    ms: expect.any(Number),
    requestId: expect.any(String),
  }
  expect(linesOf('request').filter(({ path }) => path === `/a/${agent.id}`)).toMatchObject([request])

  const all = JSON.stringify(lines)
  const secrets = [
    owner.token,
    agent.token,
    webhook.secret,
    'receivers-own',
    'value-of-a-secret',
    'subject-words',
    'body-words',
    'url-words',
  ]
  for (const secret of secrets) expect(all).not.toContain(secret)
})

test.each(['/agents', '/graphql'])(
  'a client that disconnects in the middle of a request to %s is not logged as an error',
  async (path) => {
    const { hostname, port } = new URL(service.http)
    const socket = connect(Number(port), hostname)
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\nContent-Type: application/json\r\n`
    socket.write(`${head}Content-Length: 100\r\n\r\n{"name": `)
    await fetch(`${service.http}/healthz`) // answered later, so the request above is being read
    lines.length = 0
    socket.destroy()
    await until(() => linesOf('request').some((fields) => fields.path === path && fields.status === null))
    expect(lines.filter(({ text }) => text !== 'request')).toEqual([])
  },
)

test('a refused recipient has a log line, which names the session of the mail', async () => {
  const { host, port } = service.smtp
  const letter = { from: 'bo@example.com', to: [agent.address, 'nobody@agents.localhost'], text: 'hi' }
  const { rejected } = await deliver(`${host}:${port}`, letter)
  expect(rejected).toEqual(['nobody@agents.localhost'])
  const mine = await until(() =>
    linesOf('message received over SMTP').find(({ reversePath }) => reversePath === 'bo@example.com'),
  )
  const { session, transaction } = mine
  expect(linesOf('recipient refused over SMTP')).toMatchObject([
    {
      ...{ session, transaction, reversePath: 'bo@example.com', remoteAddress: '127.0.0.1' },
      ...{ recipient: 'nobody@agents.localhost', outcome: '550' },
    },
  ])
  expect(linesOf('incoming message stored')).toContainEqual(
    expect.objectContaining({ session, transaction, sender: 'bo@example.com' }),
  )
})
