import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { distribute } from '../../src/db/distribute/distribute.ts'
import { deliver } from '../support/mail.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type CitusCluster, startCluster } from './cluster.ts'

/** A database is distributed beside a running service under load, and then loses a worker node. */

vi.setConfig({ testTimeout: 300_000 })

const SHARDS = '4'
const AGENTS = 4
/** Times in milliseconds between two mails to an agent, and two sends of an agent, which may send 60 a minute. */
const MAIL_MS = 20
const SEND_MS = 1_100

const dataDir = temporaryDir()
const settings: Record<string, string> = {
  DATA_DIR: dataDir,
  MASTER_KEY: randomBytes(32).toString('base64'),
  OWNER_TOKEN: 'a token of the owner, chosen by hand',
  WEBHOOK_ALLOW: '127.0.0.1',
  PLAN: 'unlimited',
  RATE_LIMIT: '100000',
  LOG_LEVEL: 'warn',
}
let cluster: CitusCluster
let receiver: Receiver
let service: ServiceProcess
let ready: { http: string; smtp: string }
let owner: Api

interface Agent {
  id: string
  address: string
  path: string
}
const agents: Agent[] = []

const createAgent = async (number: number): Promise<Agent> => {
  const { id } = (await owner('POST', '/agents', { name: `Bot ${number}`, icon: 'bot' })).body
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const [{ value: address }] = (await owner('GET', `/agents/${id}/addresses`)).body
  const path = `/${number}`
  expect((await owner('POST', `/agents/${id}/webhooks`, { url: receiver.url + path })).status).toBe(201)
  return { id, address, path }
}

beforeAll(async () => {
  cluster = await startCluster()
  receiver = await createReceiver()
  settings.DATABASE_URL = await cluster.createDatabase('ams')
  service = run(settings)
  ready = await service.ready()
  owner = apiOf(ready.http, settings.OWNER_TOKEN!)
  for (let n = 0; n < AGENTS; n++) agents.push(await createAgent(n))
}, 180_000)
afterAll(async () => {
  await cleanUp(dataDir)
  await receiver.close()
  await cluster.stop()
})

interface Refusal {
  code: number
  text: string
  retryAfter?: string | null
}

/** Whether the client was told to try again. */
const isTemporary = ({ code, retryAfter }: Refusal) => code === 451 || (code === 503 && retryAfter)

/** Subjects of the mails that were accepted, and texts of the messages whose sending was; and what was answered else. */
class Load {
  readonly mails = new Map<string, Agent>()
  readonly sends = new Map<string, Agent>()
  readonly refused: Refusal[] = []
  readonly #clients: Promise<void>[] = []
  #stopped = false

  constructor(name: string) {
    for (const agent of agents) {
      this.#clients.push(this.#repeat(MAIL_MS, (n) => this.#mail(agent, `${name} mail ${agent.path} ${n}`)))
      this.#clients.push(this.#repeat(SEND_MS, (n) => this.#send(agent, `${name} send ${agent.path} ${n}`)))
    }
  }

  async #repeat(pauseMs: number, once: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      await once(n)
      await sleep(pauseMs)
    }
  }

  async #mail(agent: Agent, subject: string): Promise<void> {
    try {
      await deliver(ready.smtp, { to: agent.address, from: 'ann@example.com', subject, text: subject })
      this.mails.set(subject, agent)
    } catch (error) {
      const { responseCode: code, message: text } = error as { responseCode: number; message: string }
      this.refused.push({ code, text })
    }
  }

  async #send(agent: Agent, text: string): Promise<void> {
    const body = { channel: 'email', to: ['bo@example.com'], subject: text, text }
    const { status, headers, text: answer } = await owner('POST', `/agents/${agent.id}/messages`, body)
    if (status === 201) this.sends.set(text, agent)
    else this.refused.push({ code: status, text: answer, retryAfter: headers.get('retry-after') })
  }

  get accepted(): number {
    return this.mails.size + this.sends.size
  }

  /** Resolves once so many more were accepted. */
  async goesOn(more = 40): Promise<void> {
    const enough = this.accepted + more
    await until(() => this.accepted >= enough, 120_000)
  }

  async end(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#clients)
  }
}

const subjectsOf = async ({ id }: Agent): Promise<string[]> => {
  const subjects: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await owner('GET', `/agents/${id}/messages?limit=100${cursor}`)
    subjects.push(...body.items.map(({ subject }: { subject: string }) => subject))
    if (!body.nextCursor) return subjects
    cursor = `&cursor=${body.nextCursor}`
  }
}

/** All that was accepted is stored exactly once, each mail reaches its webhook, and each message is sent. */
const expectNothingLost = async ({ mails, sends }: Load): Promise<void> => {
  for (const agent of agents) {
    const subjects = await subjectsOf(agent)
    const accepted = [...mails, ...sends].filter(([, whose]) => whose === agent).map(([subject]) => subject)
    for (const subject of accepted)
      expect(
        subjects.filter((each) => each === subject),
        subject,
      ).toHaveLength(1)
    const told = () =>
      new Set(
        receiver.received
          .filter(({ path }) => path === agent.path)
          .map(({ body }) => JSON.parse(body).data.message.subject),
      )
    const received = [...mails].filter(([, whose]) => whose === agent).map(([subject]) => subject)
    await until(() => received.every((subject) => told().has(subject)), 120_000)
    await until(async () => {
      const { body } = await owner('GET', `/agents/${agent.id}/messages?status=sending`)
      return body.items.length === 0
    }, 120_000)
  }
}

const command = async (...args: string[]) => {
  const child = run(settings, ...args)
  const { code } = await child.exited
  return { code, lines: child.stdout.trim().split('\n'), stderr: child.stderr }
}

test('a database that cannot be distributed is refused with the remedy', async () => {
  const { coordinator, workers } = cluster
  const attempt = (name: string) =>
    distribute(urlOf(coordinator.url, name), { shards: 4, log: silentLogger, progress: () => undefined })
  await execute(coordinator.url, 'create database plain')
  await expect(attempt('plain')).rejects.toThrow(/does not have Citus.*CREATE EXTENSION/)
  await execute(urlOf(coordinator.url, 'plain'), 'create extension citus')
  await expect(attempt('plain')).rejects.toThrow(/not registered.*citus_set_coordinator_host/)
  await execute(
    urlOf(coordinator.url, 'plain'),
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
  )
  await expect(attempt('plain')).rejects.toThrow(/no worker nodes.*citus_add_node/)
  await expect(
    distribute(urlOf(workers[0]!.url, 'ams'), { shards: 4, log: silentLogger, progress: () => undefined }),
  ).rejects.toThrow(/is a worker node.*coordinator/)
})

test('beside a running service under load it loses nothing, also when it is killed, and then has nothing left to do', async () => {
  const load = new Load('distribute')
  await load.goesOn()
  const killed = run(settings, 'distribute', '--shards', SHARDS)
  await until(() => killed.stdout.includes('progress'), 60_000)
  killed.kill('SIGKILL')
  await killed.exited
  await load.goesOn()
  const first = await command('distribute', '--shards', SHARDS)
  expect(first.stderr).not.toContain('"level":"error"')
  expect(first.code).toBe(0)
  const { distributed, references } = JSON.parse(first.lines.at(-1)!)
  expect([distributed, references].every((count) => count > 10)).toBe(true)
  await load.goesOn()
  const second = await command('distribute', '--shards', SHARDS)
  expect(second).toMatchObject({ code: 0, lines: ['{"distributed":0,"references":0}'] })
  await load.end()
  expect(load.refused.filter((refusal) => !isTemporary(refusal))).toEqual([])
  await expectNothingLost(load)
})

test('while a worker node is dead, clients are told to try again, and nothing that was accepted is lost', async () => {
  const load = new Load('killed node')
  await load.goesOn()
  const [, node] = cluster.workers
  await node!.kill()
  await until(() => load.refused.length > 20, 120_000)
  await node!.revive()
  await load.goesOn()
  await load.end()
  expect(load.refused.filter((refusal) => !isTemporary(refusal))).toEqual([])
  await expectNothingLost(load)
  expect((await fetch(`${ready.http}/readyz`)).status).toBe(200)
})
