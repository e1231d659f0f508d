import { authenticate } from 'mailauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { dkimKeys } from '../../src/email-domain/dkim.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { missing, type Postfix, startPostfix } from './postfix.ts'

const MAIL_DOMAIN = 'agents.example.net'

describe.skipIf(missing !== null)(missing ? `a real Postfix (skipped: ${missing})` : 'a real Postfix', () => {
  let remote: Relay
  let postfix: Postfix
  let service: TestService
  let agent: TestAgent
  let path: string
  const zone: Zone = {}
  beforeAll(async () => {
    remote = await startRelay()
    // Postfix needs the address for bounces at its start, so the worker that sends is started afterwards.
    service = await startService({
      environment: { ROLES: 'api,smtp', MAIL_DOMAIN },
      world: { resolver: fakeResolver(zone) },
    })
    const { host, port } = service.smtp
    postfix = await startPostfix({
      routes: { 'remote.example': remote.url.slice('smtp://'.length), [MAIL_DOMAIN]: `${host}:${port}` },
    })
    await service.again({ ROLES: 'worker', SMTP_RELAY_URL: postfix.url })
    const keys = await dkimKeys(
      { ...service.db, keyring: service.keyring, clock: systemClock },
      { domain: MAIL_DOMAIN, workspaceId: null },
    )
    for (const { record } of keys) zone[record.name] = { TXT: [record.value] }
    const owner = await service.workspace()
    agent = await createTestAgent(service, owner)
    path = `/agents/${agent.id}`
  }, 60_000)
  afterAll(async () => {
    await postfix?.stop()
    await remote?.stop()
  })

  const send = async (...to: string[]) =>
    (
      await agent.api('POST', `${path}/messages`, {
        channel: 'email',
        to,
        subject: 'Grüße',
        text: 'hi\n.\nFrom me',
      })
    ).body
  const becomes = (id: string, status: string) =>
    until(async () => {
      const { body } = await agent.api('GET', `${path}/messages/${id}`)
      return body.status === status && body
    }, 30_000)

  test('relays a message of the service with its DKIM signatures intact, RSA and Ed25519', async () => {
    const { id } = await send('ok@remote.example')
    const { raw, from } = await until(() => remote.mails.find(({ to }) => to.includes('ok@remote.example')))
    expect((await becomes(id, 'sent')).error).toBeNull()
    const seen = {
      ip: '127.0.0.1',
      helo: 'relay.example',
      sender: from,
      mta: 'mx',
      resolver: fakeResolver(zone),
    }
    const results = (await authenticate(raw, seen)).dkim.results.map(({ status }) => status.result)
    expect(results).toEqual(['pass', 'pass'])
    expect(raw.toString()).toContain('by relay.example (Postfix)')
  })

  test('makes a message that it refuses fail immediately with its reason', async () => {
    expect((await becomes((await send('blocked@remote.example')).id, 'failed')).error).toMatch(
      /554 5\.7\.1 .*we do not like this one/,
    )
  })

  test('makes a message fail when it bounces, which suppresses the recipient without a message to the agent', async () => {
    remote.refuse('gone@remote.example', '550 5.1.1 No such user')
    const { id } = await send('gone@remote.example', 'also@remote.example')
    const { error } = await becomes(id, 'failed')
    expect(error).toMatch(/^gone@remote\.example: .*5\.1\.1 No such user/)
    expect((await agent.api('GET', `${path}/suppressions`)).body.items).toMatchObject([
      { recipient: 'gone@remote.example' },
    ])
    expect((await agent.api('GET', `${path}/messages?direction=inbound`)).body.items).toEqual([])
    expect(remote.mails.some(({ to }) => to.includes('also@remote.example'))).toBe(true)
  })
})
