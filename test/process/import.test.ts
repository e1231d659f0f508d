import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Dovecot, missing, startDovecot } from '../support/dovecot.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, ownEnvironment, run as runProcess } from '../support/process.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Imports that are interrupted, and the operator's command that imports mails. */

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const dir = temporaryDir()
const running = new Set<ChildProcess>()
let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

interface Command {
  child: ChildProcess
  stdout(): string
  exited: Promise<{ code: number | null; stdout: string; stderr: string }>
}

const start = (args: string[], { stdin = '', environment = {} } = {}): Command => {
  const own = {
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY: Buffer.from(service.masterKey).toString('base64'),
    DATA_DIR: dir,
    LOG_LEVEL: 'error',
  }
  const child = spawn(process.execPath, [MAIN, 'import', ...args], {
    env: { ...ownEnvironment(), ...own, ...environment },
    stdio: 'pipe',
  })
  running.add(child)
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk
    })
  child.stdin.on('error', () => undefined).end(stdin)
  const exited = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code, ...said })
    }),
  )
  return { child, stdout: () => said.stdout, exited }
}

/** Runs an import to its end, and returns the last line. */
const run = async (args: string[], options = {}) => {
  const { code, stdout, stderr } = await start(args, options).exited
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

const mail = (subject: string, more = '') =>
  `From: ann@example.com\nTo: bo@example.com\nSubject: ${subject}\nDate: Tue, 2 Jan 2024 15:04:05 +0000\n${more}\nHello\n`
const subjectsOf = async ({ id }: TestAgent): Promise<string[]> =>
  (await service.db.prisma.message.findMany({ where: { agentId: id }, orderBy: { subject: 'asc' } })).map(
    ({ subject }) => String(subject),
  )
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => `Mail ${String(n).padStart(4, '0')}`)
const maildirOf = (folder: string, subjects: readonly string[]) => {
  for (const each of ['cur', 'new', 'tmp']) mkdirSync(join(folder, each), { recursive: true })
  for (const [n, subject] of subjects.entries())
    writeFileSync(join(folder, 'cur', `17000000${n}.M${n}.host:2,S`), mail(subject))
}

/** Kills an import in the middle, as soon as something is imported. */
const kill = async (command: Command) => {
  await until(() => /"imported":[1-9]/.test(command.stdout()))
  command.child.kill('SIGKILL')
  await command.exited
}

test('imports all mails of a folder, names what is skipped, and changes nothing the second time', async () => {
  const agent = await createTestAgent(service, owner)
  const folder = join(dir, 'mails')
  maildirOf(join(folder, 'Maildir'), ['in cur'])
  writeFileSync(join(folder, 'Maildir', 'new', '1.host'), mail('in new'))
  writeFileSync(join(folder, 'Maildir', 'tmp', '2.host'), mail('half written'))
  writeFileSync(join(folder, 'Maildir', 'dovecot-uidlist'), '3 V1')
  maildirOf(join(folder, 'Maildir', '.Sent'), ['in .Sent'])
  writeFileSync(join(folder, 'one.eml'), mail('in a file'))
  const separator = 'From ann Tue Jan  2 15:04:05 2024\n'
  writeFileSync(join(folder, 'archive'), `${separator}${mail('first')}\n${separator}${mail('second')}`)
  writeFileSync(join(folder, 'notes.txt'), 'no mail')
  writeFileSync(join(folder, 'empty.eml'), '')
  symlinkSync(folder, join(folder, 'again'))
  expect(await run(['--agent', agent.id, folder])).toEqual({
    done: true,
    imported: 6,
    duplicates: 0,
    skipped: 2,
    mails: [
      { name: 'empty.eml', reason: 'is empty' },
      { name: 'notes.txt', reason: 'is neither a mail (.eml) nor an mbox' },
    ],
  })
  expect(await subjectsOf(agent)).toEqual(['first', 'in .Sent', 'in a file', 'in cur', 'in new', 'second'])
  expect(await run(['--agent', agent.id, folder])).toMatchObject({ imported: 0, duplicates: 6 })
  expect(await run(['--agent', agent.id, join(folder, 'one.eml')])).toMatchObject({ duplicates: 1 })
})

test('goes on where it was after it was killed', async () => {
  const agent = await createTestAgent(service, owner)
  const folder = join(dir, 'killed')
  const subjects = numbered(500)
  maildirOf(folder, subjects)
  await kill(start(['--agent', agent.id, folder]))
  const before = (await subjectsOf(agent)).length
  expect(before).toBeGreaterThan(0)
  const { imported, duplicates } = await run(['--agent', agent.id, folder])
  expect({ imported, duplicates }).toEqual({ imported: subjects.length - before, duplicates: before })
  expect(await subjectsOf(agent)).toEqual(subjects)
})

test('an upload whose service is killed in the middle, twice, is complete once it is repeated', async () => {
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant)
  const dataDir = temporaryDir()
  const serve = () =>
    runProcess({
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: Buffer.from(service.masterKey).toString('base64'),
      DATA_DIR: dataDir,
      ROLES: 'api',
      LOG_LEVEL: 'warn',
    })
  const subjects = numbered(600)
  const mbox = subjects.map((subject) => `From ann Tue Jan  2 15:04:05 2024\n${mail(subject)}\n`)
  const where = { agentId: agent.id }
  const stored = () => service.db.prisma.message.count({ where })

  let before = 0
  for (const kill of [1, 2]) {
    const killed = serve()
    const { http } = await killed.ready()
    // The rest is not sent before the kill, so the import cannot be complete then.
    async function* body() {
      yield Buffer.from(mbox.slice(0, kill * 250).join(''))
      await killed.exited
    }
    const upload = fetch(`${http}/agents/${agent.id}/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.token}`, 'Content-Type': 'application/mbox' },
      body: body(),
      duplex: 'half',
    } as object)
    upload.catch(() => undefined)
    await until(async () => (await stored()) > before)
    killed.kill('SIGKILL')
    await expect(upload).rejects.toThrow('fetch failed')
    before = await stored()
    expect(before).toBeLessThan(subjects.length)
  }

  const again = serve()
  const api = apiOf((await again.ready()).http, tenant.token)
  const upload = () =>
    api('POST', `/agents/${agent.id}/imports`, mbox.join(''), { 'Content-Type': 'application/mbox' })
  const { imported, duplicates, skippedCount } = (await upload()).body
  // What the killed process had sent to PostgreSQL may have been committed later.
  expect(duplicates).toBeGreaterThanOrEqual(before)
  expect([imported + duplicates, skippedCount]).toEqual([subjects.length, 0])
  expect(await subjectsOf(agent)).toEqual(subjects)
  expect(await service.db.prisma.messageRaw.count({ where })).toBe(subjects.length)
  const { usage } = (await tenant.api('GET', '/workspace')).body.plan
  expect(usage.storedMessages).toBe(subjects.length)
  expect((await upload()).body).toMatchObject({ imported: 0, duplicates: subjects.length })
  again.kill('SIGKILL')
  await cleanUp(dataDir)
})

test('an agent that does not exist is an error', async () => {
  const { code, stderr } = await start(['--agent', '00000000-0000-4000-8000-000000000000', '/tmp']).exited
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/There is no agent/) })
})

test('a path that does not exist is named', async () => {
  const agent = await createTestAgent(service, owner)
  const { code, stderr } = await start(['--agent', agent.id, join(dir, 'nowhere')]).exited
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('nowhere') })
})

describe.skipIf(missing !== null)(
  missing ? `a real IMAP server (skipped: ${missing})` : 'a real IMAP server',
  () => {
    const subjects = numbered(300)
    let dovecot: Dovecot
    beforeAll(async () => {
      dovecot = await startDovecot((maildir) => {
        maildirOf(maildir, subjects)
        maildirOf(join(maildir, '.Sent'), ['sent'])
        maildirOf(join(maildir, '.Junk'), ['junk'])
      })
    })
    afterAll(() => dovecot?.stop())

    const imap = (agent: TestAgent, ...more: string[]): [string[], object] => [
      ['--agent', agent.id, '--imap', dovecot.url, ...more],
      { stdin: `${dovecot.password}\n`, environment: { NODE_EXTRA_CA_CERTS: dovecot.certificate } },
    ]

    test('imports its folders, or one of them, and changes nothing the second time', async () => {
      const agent = await createTestAgent(service, owner)
      expect(await run(...imap(agent, '--folder', 'Sent'))).toMatchObject({ imported: 1, skipped: 0 })
      expect(await run(...imap(agent))).toMatchObject({ imported: 300, duplicates: 1, skipped: 0 })
      expect(await subjectsOf(agent)).toEqual([...subjects, 'sent'])
      expect(await run(...imap(agent))).toMatchObject({ imported: 0, duplicates: 301 })
    })

    test('goes on where it was when the plan ended it between two batches', async () => {
      const small = await service.workspace()
      await service.db.prisma.plan.create({ data: { key: 'small', storedMessages: 70 } })
      const planKey = (key: string) =>
        service.db.prisma.workspace.update({ where: { id: small.id }, data: { planKey: key } })
      await planKey('small')
      const agent = await createTestAgent(service, small)
      const { code, stderr } = await start(...imap(agent, '--folder', 'INBOX')).exited
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining('70 of the mails were imported'),
      })
      await planKey('unlimited')
      const { imported, duplicates } = await run(...imap(agent, '--folder', 'INBOX'))
      expect(imported).toBe(subjects.length - 70)
      // It has not asked for all mails again.
      expect(duplicates).toBeLessThan(70)
      expect(await subjectsOf(agent)).toEqual(subjects)
    })

    test('a lost connection is made again', async () => {
      const agent = await createTestAgent(service, owner)
      const command = start(...imap(agent, '--folder', 'INBOX'))
      await until(() => /"imported":[1-9]/.test(command.stdout()))
      dovecot.disconnect()
      expect(await command.exited).toMatchObject({ code: 0, stderr: '' })
      expect(await subjectsOf(agent)).toEqual(subjects)
    })

    test('a wrong password and an unknown folder are named, and the password is not shown', async () => {
      const agent = await createTestAgent(service, owner)
      const [args, options] = imap(agent)
      const wrong = await start(args, { ...options, stdin: 'not-the-password\n' }).exited
      expect(wrong).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('refuses the user or password'),
      })
      expect(wrong.stderr + wrong.stdout).not.toContain('not-the-password')
      const unknown = await start(...imap(agent, '--folder', 'Nowhere')).exited
      expect(unknown).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('There is no folder Nowhere'),
      })
    })
  },
)
