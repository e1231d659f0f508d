import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CELL_SECRET } from '../support/cells.ts'
import { openEvents } from '../support/events.ts'
import { newest } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { freePort } from '../support/port.ts'
import { temporaryDir } from '../support/postgres.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf, createTestAgent, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Two services with their embedded databases, and two fronts, each a process. */

const dirs: string[] = []
const fronts: { process: ServiceProcess; http: string; smtp: string; dataDir: string }[] = []
const cells: ServiceProcess[] = []
let agents: TestAgent[]

const root = join(import.meta.dirname, '..', '..')

const startCell = async (name: string, publicUrl: string) => {
  const dataDir = preparedDataDir()
  dirs.push(dataDir)
  const cell = run({
    ...{ DATA_DIR: dataDir, CELL_SECRET, PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1' },
    ...{
      MAIL_DOMAIN: `${name}.example`,
      OWNER_TOKEN: `the owner's token of ${name}`,
      OWNER_EMAIL: 'ann@example.com',
    },
  })
  cells.push(cell)
  return cell.ready()
}

beforeAll(async () => {
  execFileSync(process.execPath, [join(root, 'src', 'build.mjs')])
  const ports = [await freePort(), await freePort()]
  const publicUrl = `http://localhost:${ports[0]}`
  const places = await Promise.all(['one', 'two'].map((name) => startCell(name, publicUrl)))
  const urls = places.map(({ http, smtp }) => `${http} smtp://${smtp}`).join(', ')
  for (const port of ports) {
    const dataDir = join(temporaryDir(), 'data')
    dirs.push(dataDir)
    const environment = { ROLES: 'front', CELLS: urls, CELL_SECRET, PUBLIC_URL: publicUrl, DATA_DIR: dataDir }
    const front = run({ ...environment, PORT: String(port), DRAIN_SECONDS: '0' })
    fronts.push({ process: front, ...(await front.ready()), dataDir })
  }
  const [{ http }] = fronts as unknown as [{ http: string }]
  agents = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const api = apiOf(http, `the owner's token of ${name}`)
      const agent = await createTestAgent({ http }, { api }, name)
      await api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
      return agent
    }),
  )
})
afterAll(async () => {
  for (const dir of dirs) await cleanUp(dir)
})

const send = (front: { smtp: string }, subject: string) =>
  deliver(front.smtp, {
    from: 'bob@example.com',
    to: agents.map(({ address }) => address),
    subject,
    text: 'hi',
  })
const throughEach = (agent: TestAgent) =>
  Promise.all(fronts.map(({ http }) => apiOf(http, agent.token)('GET', `/agents/${agent.id}`)))

test('every front serves all installations, and keeps nothing on disk', async () => {
  for (const [at, front] of fronts.entries()) {
    await send(front, `Mail ${at}`)
    for (const agent of agents) expect((await newest(agent))[0].subject).toBe(`Mail ${at}`)
  }
  for (const agent of agents)
    for (const { status, body } of await throughEach(agent))
      expect([status, body.id]).toEqual([200, agent.id])
  for (const { dataDir } of fronts) expect(existsSync(dataDir)).toBe(false)
})

test('a front that stops ends its streams; clients go on at another', async () => {
  const [agent] = agents as [TestAgent]
  const [first, second] = fronts as [(typeof fronts)[0], (typeof fronts)[0]]
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const path = `/agents/${agent.id}/connections/${body.id}/events`
  const stream = await openEvents(second.http + path, agent.token)
  await send(second, 'Before the stop')
  const [{ id }] = (await stream.got(1)) as unknown as [{ id: number }]
  second.process.kill('SIGTERM')
  expect(await second.process.exited).toEqual({ code: 0, signal: null })
  await stream.ended.catch(() => undefined)
  await send(first, 'After the stop')
  const again = await openEvents(first.http + path, agent.token, { 'Last-Event-ID': String(id) })
  const frames = await again.got(1)
  expect(frames.map((frame) => frame.id)).toEqual([id + 1])
  again.close()
})

test('an installation that is killed is missed by its own agents alone', async () => {
  const [one, two] = agents as [TestAgent, TestAgent]
  const [front] = fronts as [(typeof fronts)[0]]
  cells[1]!.kill('SIGKILL')
  await cells[1]!.exited
  const down = await two.api('GET', `/agents/${two.id}`)
  expect([down.status, down.headers.get('retry-after')]).toEqual([503, '2'])
  expect((await one.api('GET', `/agents/${one.id}`)).status).toBe(200)
  const { rejected } = await send(front, 'While one is down')
  expect(rejected).toEqual([two.address])
  expect((await newest(one))[0].subject).toBe('While one is down')
  await until(() => front.process.stderr.includes('installation did not answer a request'))
  for (const { token } of agents) expect(front.process.stderr).not.toContain(token)
  expect(front.process.stderr).not.toContain(CELL_SECRET)
})

test('a front with another secret says so, and is not ready', async () => {
  const { http, smtp } = JSON.parse(cells[0]!.stdout.trim().split('\n').at(-1)!) as {
    http: string
    smtp: string
  }
  const front = run({ ROLES: 'front', CELLS: `${http} smtp://${smtp}`, CELL_SECRET: 'another-'.repeat(5) })
  const ready = await front.ready()
  expect((await fetch(`${ready.http}/readyz`)).status).toBe(503)
  expect((await fetch(`${ready.http}/healthz`)).status).toBe(200)
  expect(front.stderr).toContain('it has another CELL_SECRET, or none')
  front.kill('SIGTERM')
  expect((await front.exited).code).toBe(0)
})
