import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { newest, post } from '../support/letter.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Mail to postmaster@ and abuse@. The service under test only receives: what it has acknowledged is forwarded by
 * another process, which begins later, as after a kill.
 */

let minute = new Date('2026-03-02T10:00:00Z').getTime()
let service: TestService
let owner: Tenant
beforeAll(async () => {
  const resolver = fakeResolver({ ...proves('flood.example'), ...proves('honest.example') })
  const clock = { ...systemClock, now: () => new Date(minute) }
  service = await startService({ environment: { ROLES: 'api,smtp' }, world: { clock, resolver } })
  owner = await service.workspace()
})
beforeEach(() => {
  minute += 60_000
})

const letters = async (): Promise<string[]> => {
  const folder = join(service.dataDir, 'outbox')
  const files = existsSync(folder) ? await readdir(folder) : []
  const mails = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return mails.filter((mail) => mail.includes('Subject: For the postmaster'))
}
const forwarded = async (subject: string) =>
  (await letters()).filter((mail) => mail.includes(`Subject: For the postmaster: ${subject}`))
const write = (subject: string, more: object = {}) =>
  post(service, {
    from: 'admin@elsewhere.example',
    to: 'abuse@agents.localhost',
    subject,
    text: `About ${subject}`,
    ...more,
  })

test('what got 250 is in the database, and is forwarded by whichever process runs next', async () => {
  const names = ['One', 'Two', 'Three', 'Four', 'Five']
  for (const [n, name] of names.entries())
    await write(name, { to: `${n % 2 ? 'abuse' : 'postmaster'}@agents.localhost` })
  expect(await service.db.prisma.postmasterMail.count()).toBe(5)
  expect(await letters()).toEqual([])

  const worker = await service.again({ ROLES: 'worker' })
  await until(async () => (await letters()).length === 5)
  for (const name of names) {
    const [mail, ...more] = await forwarded(name)
    expect(more).toEqual([])
    expect(mail).toContain(`To: ${owner.email}`)
    expect(mail).toContain(`About ${name}`)
  }
  await until(async () => (await service.db.prisma.postmasterMail.count()) === 0)
  await worker.stop(2_000)
})

test('beyond five a minute, a mail is deferred, for its agents too, and accepted in another minute', async () => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  for (let n = 0; n < 5; n++) await write(`Flood ${n}`)
  const late = { to: ['postmaster@agents.localhost', agent.address], messageId: '<late@elsewhere.example>' }
  await expect(write('Late', late)).rejects.toMatchObject({ responseCode: 451 })
  expect(await newest(agent)).toEqual([])
  minute += 60_000
  await write('Late', late)
  expect(await newest(agent)).toMatchObject([{ subject: 'Late' }])
  const waiting = await service.db.prisma.postmasterMail.findMany({ select: { subject: true } })
  expect(waiting.map(({ subject }) => subject.replace('For the postmaster: ', '')).sort()).toEqual([
    'Flood 0',
    'Flood 1',
    'Flood 2',
    'Flood 3',
    'Flood 4',
    'Late',
  ])
})

test('who sends as much as one may keeps nobody else from writing, and what waits is forwarded ten a minute', async () => {
  await service.db.prisma.postmasterMail.deleteMany()
  for (let n = 0; n < 3; n++) {
    minute += 60_000
    for (let m = 0; m < 5; m++) await write(`Much ${n} ${m}`, { from: 'a@flood.example' })
  }
  await expect(write('More', { from: 'a@flood.example' })).rejects.toMatchObject({ responseCode: 451 })
  await write('Honest', { from: 'b@honest.example' })
  const worker = await service.again({ ROLES: 'worker' })
  const left = () => service.db.prisma.postmasterMail.count()
  await until(async () => (await left()) === 6)
  minute += 60_000
  await until(async () => (await left()) === 0)
  expect(await forwarded('Honest')).toHaveLength(1)
  await worker.stop(2_000)
})

test('automatic mail is not forwarded, so that a forwarded mail cannot come back', async () => {
  const before = await service.db.prisma.postmasterMail.count()
  await write('Away', { headers: { 'Auto-Submitted': 'auto-replied' } })
  await write('Bounced', { envelope: { from: '', to: 'postmaster@agents.localhost' } })
  expect(await service.db.prisma.postmasterMail.count()).toBe(before)
})
