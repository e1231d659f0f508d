import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { authenticate } from 'mailauth'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { dkimKeys, rotateDkimKey } from '../../src/email-domain/dkim.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const MAIL_DOMAIN = 'agents.example.net'
const zone: Zone = {}
const resolver = fakeResolver(zone)
let clock: FakeClock
let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url, MAIL_DOMAIN },
    world: { clock, resolver },
  })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})
afterAll(() => relay.stop())
beforeEach(() => {
  relay.mails.length = 0
})

const keysOf = (domain: string, workspaceId: string | null) =>
  dkimKeys({ ...service.db, keyring: service.keyring, clock }, { domain, workspaceId })
const publish = (keys: Awaited<ReturnType<typeof keysOf>>) => {
  for (const { record } of keys) zone[record.name] = { TXT: [record.value] }
}
const send = async (more: object = {}) =>
  (
    await agent.api('POST', `/agents/${agent.id}/messages`, {
      channel: 'email',
      to: ['bo@example.com'],
      subject: 'Grüße',
      text: 'hi\n.\n',
      ...more,
    })
  ).body

/** Verifies a mail as a receiving server does, with another implementation than the one that signed it. */
const verify = async (raw: Buffer, sender: string) => {
  const { dkim, dmarc } = await authenticate(raw, {
    ip: '192.0.2.9',
    helo: 'relay.example',
    sender,
    mta: 'mx.example.com',
    resolver,
  })
  return {
    signatures: dkim.results.map(({ status, signingDomain, selector }) => ({
      result: status.result,
      domain: signingDomain,
      selector,
    })),
    dmarc,
  }
}

/** The results of both signatures. */
const passes = (domain: string) => ['rsa', 'ed25519'].map(() => ({ result: 'pass', domain }))

test('mail from the service’s domain has an aligned signature of each key, RSA and Ed25519', async () => {
  const keys = await keysOf(MAIL_DOMAIN, null)
  publish(keys)
  zone[`_dmarc.${MAIL_DOMAIN}`] = { TXT: ['v=DMARC1; p=reject; adkim=s'] }
  await send({ cc: ['cy@example.com'] })
  const [{ raw, from }, copy] = (await relay.got(2)) as [Relay['mails'][0], Relay['mails'][0]]
  expect(copy.raw.equals(raw)).toBe(true)
  const { signatures, dmarc } = await verify(raw, from)
  expect(keys.map(({ algorithm }) => algorithm)).toEqual(['rsa', 'ed25519'])
  expect(signatures).toEqual(keys.map(({ selector }) => ({ result: 'pass', domain: MAIL_DOMAIN, selector })))
  expect(raw.toString().match(/\ba=[\w-]+/g)).toEqual(['a=rsa-sha256', 'a=ed25519-sha256'])
  expect(dmarc).toMatchObject({ status: { result: 'pass' } })
  const signedFields = /\sh=([^;]+)/.exec(raw.toString())![1]!.replace(/\s/g, '').split(':')
  expect(signedFields).toEqual(
    expect.arrayContaining(['from', 'to', 'cc', 'subject', 'date', 'message-id', 'content-type']),
  )
})

test('a changed text, subject or recipient invalidates the signature', async () => {
  publish(await keysOf(MAIL_DOMAIN, null))
  await send({ subject: 'Invoice', text: 'Pay Ann.' })
  const [{ raw, from }] = (await relay.got(1)) as [Relay['mails'][0]]
  const text = raw.toString()
  for (const [was, is] of [
    ['Pay Ann.', 'Pay Eve.'],
    ['Subject: Invoice', 'Subject: Reminder'],
    ['To: bo@', 'To: eve@'],
  ] as const) {
    expect(text).toContain(was)
    const { signatures } = await verify(Buffer.from(text.replace(was, is)), from)
    for (const { result } of signatures) expect(result).not.toBe('pass')
  }
})

test.each(['\n', '\r\n', '\r'])(
  'a mail with an attached mail whose lines end with %j has a valid signature on arrival',
  async (end) => {
    publish(await keysOf(MAIL_DOMAIN, null))
    const content = Buffer.from(
      ['From: a@example.com', 'Subject: ä', '', 'body', '.', ''].join(end),
    ).toString('base64')
    await send({ attachments: [{ name: 'a.eml', type: 'message/rfc822', content }] })
    const [{ raw, from }] = (await relay.got(1)) as [Relay['mails'][0]]
    expect((await verify(raw, from)).signatures).toMatchObject([{ result: 'pass' }, { result: 'pass' }])
  },
)

test('system mail is signed too', async () => {
  publish(await keysOf(MAIL_DOMAIN, null))
  expect((await owner.api('POST', '/members/invitations', { email: 'new@example.com' })).status).toBe(201)
  const [{ raw, from }] = (await relay.got(1)) as [Relay['mails'][0]]
  expect(from).toBe(`no-reply@${MAIL_DOMAIN}`)
  expect((await verify(raw, from)).signatures).toMatchObject(passes(MAIL_DOMAIN))
})

test('mail from an own domain is signed with the domain’s key once it is verified', async () => {
  const name = 'acme.example'
  const { prisma } = service.db
  const domain = await prisma.domain.create({
    data: { workspaceId: owner.id, name, ownershipToken: 'x', state: 'pending' },
  })
  await prisma.address.create({
    data: {
      workspaceId: owner.id,
      agentId: agent.id,
      channel: 'email',
      value: `bot@${name}`,
      domainId: domain.id,
    },
  })
  await prisma.address.updateMany({
    where: { agentId: agent.id, value: { not: `bot@${name}` } },
    data: { primary: false },
  })
  await prisma.address.updateMany({ where: { value: `bot@${name}` }, data: { primary: true } })
  publish(await keysOf(name, owner.id))
  await send()
  const [pending] = (await relay.got(1)) as [Relay['mails'][0]]
  expect((await verify(pending.raw, pending.from)).signatures[0]?.result).not.toBe('pass')
  await prisma.domain.update({ where: { id: domain.id }, data: { state: 'verified' } })
  await send()
  const [, mail] = (await relay.got(2)) as [Relay['mails'][0], Relay['mails'][0]]
  expect((await verify(mail.raw, mail.from)).signatures).toMatchObject(passes(name))
  expect(mail.from).toMatch(new RegExp(`^bounce-[0-9a-f]{54}@${MAIL_DOMAIN}$`))
  await prisma.address.deleteMany({ where: { value: `bot@${name}` } })
  await prisma.address.updateMany({ where: { agentId: agent.id }, data: { primary: true } })
})

test('after a rotation, the old key signs until the new key’s record is published', async () => {
  const deps = { ...service.db, keyring: service.keyring, clock }
  const [first, firstEd25519] = await keysOf(MAIL_DOMAIN, null)
  publish([first!, firstEd25519!])
  clock.advance(1)
  const [second] = await rotateDkimKey(deps, { domain: MAIL_DOMAIN, workspaceId: null })
  const selectors: string[][] = []
  for (const published of [[], [second!]]) {
    publish(published)
    clock.advance(61_000)
    await send()
    const { raw, from } = (await relay.got(selectors.length + 1)).at(-1)!
    const { signatures } = await verify(raw, from)
    for (const { result } of signatures) expect(result).toBe('pass')
    selectors.push(signatures.map(({ selector }) => selector!))
  }
  // The record of the second Ed25519 key is not published yet, so that it does not sign.
  expect(selectors).toEqual([[first!.selector, firstEd25519!.selector], [second!.selector]])
})

test('a mail in the outbox is signed and has its return path, as if it had been sent', async () => {
  const offline = await startService({ environment: { MAIL_DOMAIN }, world: { resolver } })
  const bot = await createTestAgent(offline, await offline.workspace())
  publish(
    await dkimKeys(
      { ...offline.db, keyring: offline.keyring, clock },
      { domain: MAIL_DOMAIN, workspaceId: null },
    ),
  )
  const { body } = await bot.api('POST', `/agents/${bot.id}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    text: 'hello',
  })
  await until(
    async () => (await bot.api('GET', `/agents/${bot.id}/messages/${body.id}`)).body.status === 'sent',
  )
  const outbox = join(offline.dataDir, 'outbox')
  const raw = readFileSync(join(outbox, readdirSync(outbox)[0]!))
  const returnPath = /^Return-Path: <(.+)>\r\n/.exec(raw.toString())![1]!
  expect(returnPath).toMatch(/^bounce-[0-9a-f]{54}@agents\.example\.net$/)
  expect((await verify(raw, returnPath)).signatures).toMatchObject(passes(MAIL_DOMAIN))
})
