import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { cancelMove, examineMove, moveWorkspace, type Step } from '../../src/move/move.ts'
import { hashToken } from '../../src/workspace/token/token.ts'
import { afterFile } from '../support/after-file.ts'
import { nextOf, openCompany } from '../support/company.ts'
import { cookieClient } from '../support/cookie-client.ts'
import { openEvents } from '../support/events.ts'
import { post } from '../support/letter.ts'
import { ownDomain } from '../support/own-domain.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { NORTHWIND, seed } from '../support/seed.ts'
import { type Api, apiOf, createTestAgent, type Tenant, type TestService } from '../support/service.ts'
import { dialSmtp } from '../support/smtp-session.ts'
import {
  type Installations,
  MAIL_DOMAIN,
  moveKilledAt,
  moveOptions,
  signAsSource,
  twoInstallations,
} from '../support/two-installations.ts'
import { until } from '../support/until.ts'

/** A workspace moves to another installation: with everything, and never works in both. */

let both: Installations
let source: TestService
let target: TestService
let receiver: Receiver
let neighbour: Tenant
beforeAll(async () => {
  both = await twoInstallations()
  ;({ source, target } = both)
  receiver = await createReceiver()
  afterFile(() => receiver.close())
  neighbour = await source.workspace('Neighbour')
  await signAsSource(both)
})

const move = (workspace: string) => moveWorkspace(moveOptions(both, workspace))

/** Everything that members can list, as it is sent; when a token was used last depends on who asks. */
const listsOf = async (api: Api, agent: string): Promise<Record<string, string>> => {
  const ofAgent = 'messages threads webhooks secrets tokens drafts suppressions addresses questions counts'
  const paths = [
    ...[
      '/workspace',
      '/agents',
      '/members',
      '/members/invitations',
      '/messages?limit=100',
      '/audit?limit=100',
    ],
    ...['/counts', '/domains', '/viewer', '/tokens', `/agents/${agent}`, `/agents/${agent}/access`],
    ...ofAgent.split(' ').map((path) => `/agents/${agent}/${path}`),
  ]
  const lists: Record<string, string> = {}
  for (const path of paths) {
    const { status, text } = await api('GET', path)
    lists[path] = `${status} ${text.replaceAll(/"lastUsedAt":"[^"]*"/g, '')}`
  }
  return lists
}

const ANYONE = { admit: 'anyone', senders: [], blocked: [] }

const sentFrom = (service: TestService): number => {
  try {
    return readdirSync(join(service.dataDir, 'outbox')).length
  } catch {
    return 0
  }
}

/** A small workspace with an agent that has received a message. */
const small = async (name: string) => {
  const tenant = await source.workspace(name)
  const agent = await createTestAgent(source, tenant, 'Bot')
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, ANYONE)
  await post(source, { from: 'ann@example.com', to: agent.address, subject: 'One', text: 'one' })
  const there = apiOf(target.http, agent.token)
  const subjects = async () =>
    (await there('GET', `/agents/${agent.id}/messages`)).body.items.map(
      ({ subject }: { subject: string }) => subject,
    )
  return { tenant, agent, there, subjects }
}

test('refuses, before anything starts, what the other installation cannot take', async () => {
  const { tenant, agent } = await small('Refused')
  const options = moveOptions(both, tenant.id)
  await target.db.prisma.dkimKey.deleteMany({ where: { domain: MAIL_DOMAIN } })
  await expect(move(tenant.id)).rejects.toThrow('no DKIM key: run the command domain there')
  await signAsSource(both)

  const resident = await target.db.prisma.workspace.findFirstOrThrow()
  const workspaceId = resident.id
  const other = await createTestAgent(target, await target.workspace('Busy'))
  await target.db.prisma.address.updateMany({ where: { agentId: other.id }, data: { value: agent.address } })
  await target.db.prisma.givenAddress.create({ data: { value: agent.address, workspaceId } })
  const number = { value: '+15005550111', providerId: 'PN1' }
  await source.db.prisma.phoneNumber.create({ data: { ...number, workspaceId: tenant.id } })
  await target.db.prisma.phoneNumber.create({ data: { ...number, workspaceId } })
  await source.db.prisma.domain.create({
    data: { workspaceId: tenant.id, name: 'taken.example', state: 'verified', ownershipToken: 'a' },
  })
  await target.db.prisma.domain.create({
    data: { workspaceId, name: 'taken.example', state: 'verified', ownershipToken: 'b' },
  })
  await tenant.api('DELETE', '/workspace')
  const examined = await examineMove(options)
  expect(examined).toMatchObject({ closed: false, rows: { agent: 1, message: 1, phone_number: 1 } })
  expect((examined as { obstacles: string[] }).obstacles).toEqual([
    'The workspace is to be deleted: an owner can cancel that.',
    `The other installation has the address email ${agent.address} already.`,
    `The other installation has the address, which another workspace there has or had, ${agent.address} already.`,
    'The other installation has the phone number +15005550111 already.',
    'The other installation has the domain, verified by another workspace, taken.example already.',
  ])
  await expect(move(tenant.id)).rejects.toThrow('+15005550111')

  const wrong = { ...options, target: { ...options.target, masterKeys: [source.masterKey] as const } }
  await expect(moveWorkspace(wrong)).rejects.toThrow('TO_MASTER_KEY is not the master key')
  const same = { ...options, target: { ...options.target, databaseUrl: source.databaseUrl } }
  await expect(moveWorkspace(same)).rejects.toThrow('the same database')
  await target.db.pool.query(
    `update _prisma_migrations set finished_at = null where migration_name like '%_workspace_move'`,
  )
  await expect(move(tenant.id)).rejects.toThrow('of another version')
  await target.db.pool.query(`update _prisma_migrations set finished_at = now() where finished_at is null`)

  expect((await tenant.api('GET', '/workspace')).status).toBe(200)
  expect(await target.db.prisma.workspace.count({ where: { id: tenant.id } })).toBe(0)
})

test('everything arrives, as it was, and goes on where it was', async () => {
  const tenant = await source.workspace('Moving')
  const { support } = await seed(source, tenant, `${receiver.url}/shop`)
  const { api } = tenant
  const path = `/agents/${support.id}`
  await api('PATCH', path, { approval: 'none' })
  await api('PUT', `${path}/access/email`, ANYONE)
  const paused = (await api('POST', `${path}/webhooks`, { url: `${receiver.url}/paused` })).body
  await api('PATCH', `${path}/webhooks/${paused.id}`, { paused: true })
  const letter = (subject: string) => ({
    from: 'eve@example.com',
    to: support.address,
    subject,
    text: subject,
  })
  await post(source, letter('before'))
  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const body = { channel: 'email', to: ['kim@example.com'], text: 'on time', sendAt }
  const once = { 'Idempotency-Key': 'once' }
  const here = apiOf(source.http, support.token)
  const sent = await here('POST', `${path}/messages`, body, once)
  const { id: connection } = (await here('PUT', `${path}/connection`, { client: 'c', machine: 'm' })).body
  const events = `${path}/connections/${connection}/events`
  const stream = await openEvents(source.http + events, support.token, { 'Last-Event-ID': '0' })
  const shop = () => receiver.received.filter((one) => one.path === '/shop')
  await until(() => shop().filter((one) => one.body.includes('before')).length === 1)
  const accepted = async () => (await here('GET', `${path}/counts`)).body.at(-1).deliveriesAccepted
  await until(async () => (await accepted()) === shop().length)
  await until(async () => (await source.db.prisma.unindexedMessage.count()) === 0)
  await until(async () => (await source.db.prisma.usageChange.count()) === 0)
  const [seen, posted] = [(await stream.got(5)).at(-1)!.id!, receiver.received.length]
  const [lists, outbox] = [await listsOf(api, support.id), sentFrom(source)]
  expect(Object.values(lists).filter((list) => !list.startsWith('200'))).toEqual([])

  const during: unknown[] = []
  const reached = async (step: Step) => {
    if (step !== 'closed') return
    const refused = await post(source, letter('during')).catch(
      (error: { responseCode?: number }) => error.responseCode,
    )
    const asked = await api('GET', '/workspace')
    during.push(refused, asked.status, asked.headers.get('retry-after'))
    during.push((await neighbour.api('GET', '/workspace')).status)
    await stream.ended
  }
  const moved = await moveWorkspace({ ...moveOptions(both, tenant.id), reached })
  expect(moved).toMatchObject({ workspace: tenant.id, moved: true })
  expect(during).toEqual([451, 503, '10', 200])

  const there = apiOf(target.http, tenant.token)
  const agent = apiOf(target.http, support.token)
  expect(await listsOf(there, support.id)).toEqual(lists)
  expect((await agent('POST', `${path}/secrets/reveal`, {})).body.STRIPE_KEY).toBe('sk_live')
  expect((await agent('POST', `${path}/messages`, body, once)).body.id).toBe(sent.body.id)

  await target.db.prisma.job.updateMany({ where: { lane: sent.body.id }, data: { dueAt: new Date() } })
  await until(async () => (await agent('GET', `${path}/messages/${sent.body.id}`)).body.status === 'sent')
  expect([sentFrom(source) - outbox, sentFrom(target)]).toEqual([0, 1])

  await post(target, letter('during'))
  const resumed = await openEvents(target.http + events, support.token, { 'Last-Event-ID': String(seen) })
  const [first] = await resumed.got(1)
  const heard = await agent('GET', `${path}/messages/${first!.data.messageId}`)
  expect([first!.id, heard.body.subject]).toEqual([seen + 1, 'during'])
  resumed.close()
  await until(() => receiver.received.length === posted + 1)
  expect(receiver.received.at(-1)).toMatchObject({ path: '/shop', body: expect.stringContaining('during') })
  await there('PATCH', `${path}/webhooks/${paused.id}`, { paused: false })
  await receiver.got('/paused', 2)
  expect(
    receiver.received
      .filter((one) => one.path === '/paused')
      .map((one) => JSON.parse(one.body).data.message.subject),
  ).toEqual(['before', 'during'])

  expect((await api('GET', '/workspace')).status).toBe(503)
  await expect(post(source, letter('after'))).rejects.toMatchObject({ responseCode: 451 })
})

test.each<Step>(['closed', 'copied', 'moved', 'committed'])(
  'killed when it is %s, it works in one of both at most, and another run completes it',
  async (step) => {
    const { tenant, agent, there, subjects } = await small(`Killed when ${step}`)
    await moveKilledAt(both, tenant.id, step)
    expect((await agent.api('GET', `/agents/${agent.id}`)).status).toBe(503)
    expect((await there('GET', `/agents/${agent.id}`)).status).toBe(step === 'committed' ? 200 : 401)
    if (step === 'committed') {
      await expect(cancelMove(moveOptions(both, tenant.id))).rejects.toThrow('The workspace has moved')
      await post(target, { from: 'ann@example.com', to: agent.address, subject: 'Two', text: 'two' })
    }
    expect(await move(tenant.id)).toMatchObject({ moved: true })
    expect(await subjects()).toEqual(step === 'committed' ? ['Two', 'One'] : ['One'])
    expect((await agent.api('GET', `/agents/${agent.id}`)).status).toBe(503)
    expect(await source.db.prisma.address.count({ where: { workspaceId: tenant.id } })).toBe(1)
    expect(await move(tenant.id)).toMatchObject({ moved: true })
  },
)

test('a move that was killed can be cancelled, and none goes to a second database', async () => {
  const { tenant, agent, there } = await small('Cancelled')
  await moveKilledAt(both, tenant.id, 'moved')
  await source.db.prisma.workspaceMove.updateMany({
    data: { target: 'another' },
    where: { workspaceId: tenant.id },
  })
  await expect(move(tenant.id)).rejects.toThrow('to another database has begun')
  await expect(cancelMove(moveOptions(both, tenant.id))).rejects.toThrow('is to another database')
  const target = (
    await source.db.prisma.workspaceMove.findFirstOrThrow({ where: { workspaceId: { not: tenant.id } } })
  ).target
  await source.db.prisma.workspaceMove.updateMany({ data: { target }, where: { workspaceId: tenant.id } })
  await cancelMove(moveOptions(both, tenant.id))
  await until(async () => (await agent.api('GET', `/agents/${agent.id}`)).status === 200)
  await post(source, { from: 'ann@example.com', to: agent.address, subject: 'Two', text: 'two' })
  expect((await there('GET', `/agents/${agent.id}`)).status).toBe(401)
})

test('nobody joins a workspace that is closed', async () => {
  const { tenant } = await small('Joined')
  await tenant.api('POST', '/members/invitations', { email: 'bo@example.com' })
  const token = `ait_${'x'.repeat(43)}`
  await source.db.prisma.invitation.updateMany({
    where: { workspaceId: tenant.id },
    data: { tokenHash: Uint8Array.from(hashToken(token)) },
  })
  await moveKilledAt(both, tenant.id, 'closed')
  const { status } = await cookieClient(source).submit(
    `/join/${token}`,
    { name: 'Bo' },
    { Origin: 'https://ams.example' },
  )
  expect(status).toBe(503)
  expect(await source.db.prisma.member.count({ where: { workspaceId: tenant.id } })).toBe(1)
})

test('nobody signs in to a workspace that is closed, and a link stays of use', async () => {
  const { tenant } = await small('Signing in')
  const publicUrl = () => 'https://ams.example'
  const { url } = await createOperatorLink({ ...source.db, clock: systemClock, publicUrl }, tenant)
  const credentialId = Uint8Array.from(Buffer.from('a passkey'))
  const passkey = { credentialId, publicKey: credentialId, counter: 0, name: 'x', createdAt: new Date() }
  await source.db.prisma.passkey.create({ data: { ...passkey, memberId: tenant.member } })
  await moveKilledAt(both, tenant.id, 'closed')
  const answer = {
    id: Buffer.from(credentialId).toString('base64url'),
    rawId: 'x',
    response: {},
    type: 'public-key',
  }
  for (const [path, form] of [
    ['/app/sign-in/link', { link: url }],
    ['/app/sign-in/token', { token: tenant.token }],
    ['/app/sign-in/passkey', { answer: JSON.stringify(answer) }],
  ] as const) {
    const page = await cookieClient(source).submit(path, form, { Origin: publicUrl() })
    expect([path, page.status]).toEqual([path, 503])
    expect(page.text).toContain('This workspace is moving to another installation.')
  }
  const links = await source.db.prisma.signInLink.findMany({ where: { memberId: tenant.member } })
  expect(links).toMatchObject([{ usedAt: null }])
})

test('nobody signs in with the account of a company to a workspace that is closed, and the sign-in stays of use', async () => {
  const { tenant } = await small('Signing in at a company')
  const company = await openCompany()
  const { name } = await ownDomain(tenant, NORTHWIND, 'moving-company.example')
  const { issuer, clientId, clientSecret } = company
  const signIn = { issuer, clientId, clientSecret, domains: [name] }
  expect((await tenant.api('PATCH', '/workspace', { signIn })).status).toBe(200)
  const browser = cookieClient(source)
  const email = `ann@${name}`
  const begun = await browser.submit(
    '/app/sign-in/company',
    { email, to: '' },
    { Origin: 'https://ams.example' },
  )
  company.claims = { email, email_verified: true }
  const back = company.approve(nextOf(begun))
  await moveKilledAt(both, tenant.id, 'closed')
  const page = await browser.get(back)
  expect(page.status).toBe(503)
  expect(page.text).toContain('This workspace is moving to another installation.')
  expect(await source.db.prisma.member.count({ where: { workspaceId: tenant.id } })).toBe(1)
  await cancelMove(moveOptions(both, tenant.id))
  expect((await browser.get(back)).status).toBe(200)
  const viewer = await browser.ask('{ viewer { id } }', {}, { Origin: 'https://ams.example' })
  expect(viewer.status).toBe(200)
})

test('a mail that begins to arrive before the move and ends after it is told to try again', async () => {
  const { tenant, agent, subjects } = await small('Straddled')
  const session = await dialSmtp(source.smtp.port)
  for (const line of ['MAIL FROM:<ann@example.com>', `RCPT TO:<${agent.address}>`, 'DATA'])
    expect(await session.send(line)).toMatch(/^[23]5/)
  session.socket.write('From: ann@example.com\r\nSubject: Late\r\n\r\nhello\r\n')
  await move(tenant.id)
  expect(await session.send('.')).toMatch(/^451/)
  expect(await subjects()).toEqual(['One'])
  session.socket.destroy()
})

test('what is in progress ends first, and what changes while it is copied is copied too', async () => {
  const { tenant, agent, there, subjects } = await small('Busy')
  const { id } = (await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/slow` }))
    .body
  let answer: () => unknown = () => null
  receiver.answer('/slow', (response) => {
    answer = () => response.writeHead(204).end()
  })
  await post(source, { from: 'ann@example.com', to: agent.address, subject: 'Two', text: 'two' })
  await receiver.got('/slow', 1)
  await source.db.pool.query(
    `insert into album_part (agent_id, address_id, chat_id, group_id, message_id, content, arrived_at, batch_id, lease_until)
     select agent_id, id, 1, 'leased', 1, '{}', now(), gen_random_uuid(), now() + interval '6 s' from address where agent_id = $1`,
    [agent.id],
  )
  let copies = 0
  const reached = async (step: Step) => {
    if (step === 'closed') setTimeout(answer, 3_000)
    const leased = await source.db.pool.query('select from album_part where lease_until > now()')
    if (step === 'copied') expect(leased.rowCount).toBe(0)
    if (step !== 'copied' || copies++ > 0) return
    // As a request that was let in before, and took its time.
    await source.db.prisma.message.updateMany({
      where: { agentId: agent.id, subject: 'One' },
      data: { subject: 'Late' },
    })
  }
  await moveWorkspace({ ...moveOptions(both, tenant.id), reached })
  expect(copies).toBe(2)
  expect(await subjects()).toEqual(['Two', 'Late'])
  const { items } = (await there('GET', `/agents/${agent.id}/webhooks/${id}/deliveries`)).body
  expect(
    items.map(({ status, attempts }: { status: string; attempts: unknown[] }) => [status, attempts.length]),
  ).toEqual([['delivered', 1]])
  await post(target, { from: 'ann@example.com', to: agent.address, subject: 'Three', text: 'three' })
  const received = await receiver.got('/slow', 2)
  expect(received.map(({ body }) => JSON.parse(body).data.message.subject)).toEqual(['Two', 'Three'])
})

test('deleting what has moved gives nothing away that the other installation has, and it can come back', async () => {
  const { tenant, agent, subjects } = await small('Returning')
  const number = await source.db.prisma.phoneNumber.create({
    data: { workspaceId: tenant.id, value: '+15005550112', providerId: 'PN2' },
  })
  await source.db.prisma.optOut.create({
    data: { ours: number.value, theirs: '+15005550199', keyword: 'STOP' },
  })
  await move(tenant.id)
  expect(await source.db.prisma.phoneNumber.count({ where: { id: number.id } })).toBe(0)
  expect(await target.db.prisma.optOut.count({ where: { ours: number.value } })).toBe(1)
  await source.db.prisma.workspace.update({ where: { id: tenant.id }, data: { deleteAt: new Date(0) } })
  await until(async () => (await source.db.prisma.workspace.count({ where: { id: tenant.id } })) === 0)
  expect(await subjects()).toEqual(['One'])
  expect(await target.db.prisma.phoneNumber.count({ where: { id: number.id } })).toBe(1)

  const back = moveOptions({ source: target, target: source }, tenant.id)
  const remains = await examineMove(back)
  expect((remains as { obstacles: string[] }).obstacles.join()).toMatch(
    /^The other installation still has rows/,
  )
  await source.db.pool.query('delete from deleted_agent where workspace_id = $1', [tenant.id])
  for (const table of ['message', 'usage_change', 'blob', 'thread_state', 'question'])
    await source.db.pool.query(`delete from ${table} where workspace_id = $1`, [tenant.id])
  await moveWorkspace(back)
  expect((await agent.api('GET', `/agents/${agent.id}`)).status).toBe(200)
})

test('a move that fails leaves the workspace open where it was, and the other installation untouched', async () => {
  const { tenant, agent } = await small('Failing')
  await tenant.api('POST', '/members/invitations', { email: 'bo@example.com' })
  const where = { workspaceId: tenant.id }
  const { tokenHash } = await source.db.prisma.invitation.findFirstOrThrow({ where })
  const { id: workspaceId } = await target.workspace('Other')
  const invitation = { email: 'al@example.com', tokenHash, expiresAt: new Date() }
  await target.db.prisma.invitation.create({ data: { workspaceId, ...invitation } })
  await expect(move(tenant.id)).rejects.toThrow('The other installation has this already (invitation)')
  await until(async () => (await agent.api('GET', `/agents/${agent.id}`)).status === 200)
  expect(await source.db.prisma.workspaceMove.count({ where })).toBe(0)
  expect(await target.db.prisma.workspace.count({ where: { id: tenant.id } })).toBe(0)
})
