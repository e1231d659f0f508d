import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { endAms } from '../support/ams.ts'
import { Host, type Turn } from '../support/channel-host.ts'
import { type RpcStream, streamRpc } from '../support/mcp.ts'
import { freePort } from '../support/port.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { type Api, apiOf, createTestAgent, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'
import { RECEIVERS } from '../support/webhook-receivers.ts'

/** How many mails; the long run has a thousand. One in five goes alone and is timed, during the others everything is killed in turn. */
const MAILS = Number(process.env.RECEIVERS_MAILS ?? 60)
const TIMED = MAILS / 5
const MAILS_PER_KILL = Number(process.env.RECEIVERS_MAILS_PER_KILL ?? 16)
/** An agent takes 30 messages a minute from one sender. */
const SENDERS = Math.ceil(MAILS / 25)
/** Nobody reads the answers of so many of the POSTs. */
const UNHEARD = 0.01

/** What a receiver heard: the mail's number, and what names the delivery or the event, the same when it is repeated. */
interface Heard {
  mail: number
  id: string
  at: number
}

let dataDir: string
let name: string
let settings: Record<string, string>
let service: ServiceProcess
let http: string
let owner: Api
let hooks: Receiver
let heard: Map<string, Heard[]>
const programs = new Set<ChildProcess>()
beforeEach(async () => {
  name = `receivers_${randomBytes(6).toString('hex')}`
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  dataDir = temporaryDir()
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(inject('postgres').url, name),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    PORT: String(await freePort()),
    RATE_LIMIT: '1000000',
    WEBHOOK_ALLOW: '127.0.0.1',
  }
  await start()
  owner = apiOf(http, settings.OWNER_TOKEN!)
  hooks = await createReceiver()
  heard = new Map()
})
afterEach(async () => {
  endAms()
  for (const program of programs) program.kill('SIGKILL')
  await hooks.close()
  await cleanUp(dataDir)
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

const start = async () => {
  service = run(settings)
  http = (await service.ready()).http
}
const restart = async () => {
  service.kill('SIGKILL')
  await service.exited
  await start()
}

const listOf = (receiver: string): Heard[] => heard.get(receiver) ?? heard.set(receiver, []).get(receiver)!
const numberIn = (text: string) => Number(/mail-(\d+)/.exec(text)![1])

const createReceiving = async (): Promise<TestAgent> => {
  const agent = await createTestAgent({ http }, { api: owner })
  await owner('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const addWebhooks = async (agent: TestAgent) => {
  for (const [receiver, { path, headers, body, fault, answer }] of Object.entries(RECEIVERS)) {
    hooks.always(path, (res, got) => {
      const at = Date.now()
      const reason = fault(got.headers, JSON.parse(got.body)) ?? (got.verified ? null : 'signature')
      if (reason === null)
        listOf(receiver).push({ mail: numberIn(got.body), id: got.headers['webhook-id']!, at })
      if (Math.random() < UNHEARD) res.destroy()
      else res.writeHead(reason === null ? answer.status : 400).end(reason ?? answer.body)
    })
    const given = { url: hooks.url + path, headers, body }
    const added = await agent.api('POST', `/agents/${agent.id}/webhooks`, given)
    expect(added.status).toBe(201)
    hooks.expect(path, added.body.secret)
  }
}

const built = (file: string) =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'client', file)).href)
const PROGRAM = `import { Agent } from ${built('index.js')}
import { fileStore } from ${built('node.js')}
for await (const { message, event, done } of new Agent().messages({ store: fileStore('position') })) {
  console.log(JSON.stringify({ subject: message.subject, id: String(event.id), at: Date.now() }))
  await done()
}`

const startProgram = (agent: TestAgent): ChildProcess => {
  const { PATH = '' } = process.env
  const program = spawn(process.execPath, ['program.mjs'], {
    cwd: dataDir,
    env: { PATH, AMS_URL: http, AMS_TOKEN: agent.token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  programs.add(program)
  createInterface({ input: program.stdout! }).on('line', (line) => {
    const { subject, id, at } = JSON.parse(line)
    listOf('a program with the client').push({ mail: numberIn(subject), id, at })
  })
  return program
}

/** An MCP host that keeps the cursor of the last event, and opens the stream again when it ends. */
const followMcp = (agent: TestAgent) => {
  const own = listOf('an MCP host, events/stream')
  let open: RpcStream | undefined
  let left = false
  const follow = async () => {
    const from = { name: 'message.received', arguments: {}, cursor: own.at(-1)?.id ?? '0' }
    open = await streamRpc(http, agent.token, 'events/stream', from)
    const over = open.ended.catch(() => undefined).then(() => 'over' as const)
    let taken = 0
    for (;;) {
      const events = open.of('notifications/events/event')
      for (const { params } of events.slice(taken))
        own.push({ mail: numberIn(params.data.message.subject), id: params.cursor, at: Date.now() })
      taken = events.length
      if ((await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 5))])) === 'over') return
    }
  }
  const followed = (async () => {
    while (!left) await follow().catch(() => new Promise((resolve) => setTimeout(resolve, 100)))
  })()
  return {
    drop: () => open?.close(),
    leave: async () => {
      left = true
      open?.close()
      await followed
    },
  }
}

/** Sends until it is accepted: the key makes one message of all attempts. */
const send = async (mail: number, senders: readonly TestAgent[], to: readonly TestAgent[]) => {
  const sender = senders[mail % senders.length]!
  const letter = {
    channel: 'email',
    to: to.map(({ address }) => address),
    subject: `mail-${mail}`,
    text: `mail-${mail}`,
  }
  await until(async () => {
    const headers = { 'Idempotency-Key': `mail-${mail}` }
    const { status } = await sender.api('POST', `/agents/${sender.id}/messages`, letter, headers)
    return status === 201
  })
}

const logOf = async ({ id }: TestAgent): Promise<number[]> => {
  const client = new pg.Client({ connectionString: settings.DATABASE_URL })
  await client.connect()
  const { rows } = await client.query('select subject from event where agent_id = $1 order by id', [id])
  await client.end()
  return rows.map(({ subject }) => numberIn(subject))
}

const percentile = (times: readonly number[], part: number) =>
  times.toSorted((one, other) => one - other)[Math.ceil(times.length * part) - 1]!

test('every receiver hears each mail once, in the order of the log, whatever is killed', {
  timeout: 240_000 + MAILS * 2_000,
}, async () => {
  const agents = [
    await createReceiving(),
    await createReceiving(),
    await createReceiving(),
    await createReceiving(),
  ] as const
  const [hooked, programmed, channelled, hosted] = agents
  const senders: TestAgent[] = []
  while (senders.length < SENDERS) senders.push(await createTestAgent({ http }, { api: owner }))
  await addWebhooks(hooked)
  writeFileSync(join(dataDir, 'program.mjs'), PROGRAM)
  let program = startProgram(programmed)
  const turns: Turn[] = []
  const env = { HOME: dataDir, AMS_URL: http, AMS_TOKEN: channelled.token }
  let host = new Host(env, turns)
  await host.open()
  const mcp = followMcp(hosted)
  for (const { id } of [programmed, channelled, hosted])
    await until(async () => (await owner('GET', `/agents/${id}/listeners`)).body.length > 0)

  const receivers = () => {
    const channel = turns.map(({ content, meta, at }) => ({
      mail: numberIn(content),
      id: meta.message_id!,
      at,
    }))
    return new Map([...heard, ['ams channel', channel]])
  }
  const reached = (mail: number) =>
    [...receivers().values()].filter((list) => list.some((one) => one.mail === mail)).length ===
    Object.keys(RECEIVERS).length + 3

  const took = new Map<string, number[]>()
  for (let mail = 1; mail <= TIMED; mail++) {
    const sentAt = Date.now()
    await send(mail, senders, agents)
    await until(() => reached(mail))
    for (const [receiver, list] of receivers()) {
      const { at } = list.find((one) => one.mail === mail)!
      took.set(receiver, [...(took.get(receiver) ?? []), at - sentAt])
    }
  }

  let kills = 0
  for (let mail = TIMED + 1; mail <= MAILS; mail++) {
    await send(mail, senders, agents)
    if (mail % MAILS_PER_KILL !== 0) continue
    const turn = kills++ % 5
    if (turn === 0 || turn === 4) await restart()
    if (turn === 1 || turn === 4) {
      program.kill('SIGKILL')
      program = startProgram(programmed)
    }
    if (turn === 2 || turn === 4) {
      host.ams.child.kill('SIGKILL')
      await host.ams.exited
      host = new Host(env, turns)
      await host.open()
    }
    if (turn === 3) mcp.drop()
  }
  const all = Array.from({ length: MAILS }, (_, index) => index + 1)
  await until(
    () => [...receivers().values()].every((list) => new Set(list.map(({ mail }) => mail)).size === MAILS),
    180_000,
  ).catch(
    () => undefined, // the table says what is missing
  )
  await mcp.leave()

  const agentOf = (receiver: string) =>
    ({
      'ams channel': channelled,
      'a program with the client': programmed,
      'an MCP host, events/stream': hosted,
    })[receiver] ?? hooked
  const lines = [`receivers-kill: ${MAILS} mails, ${kills} kills`]
  for (const [receiver, list] of receivers()) {
    // Who remembers what it has heard leaves out what it hears again; what is not the same by its id is not left out.
    const once = list.filter(({ id }, index) => list.findIndex((one) => one.id === id) === index)
    const log = await logOf(agentOf(receiver))
    const lost = all.filter((mail) => !once.some((one) => one.mail === mail)).length
    const twice = once.length - new Set(once.map(({ mail }) => mail)).size
    const inOrder = JSON.stringify(once.map(({ mail }) => mail)) === JSON.stringify(log)
    const times = took.get(receiver)!
    const p = [0.5, 0.95].map((part) => percentile(times, part))
    lines.push(
      `  ${receiver}: ${lost} lost, ${twice} twice, ${list.length - once.length} repeated under their id, order ${inOrder ? 'kept' : 'BROKEN'}, p50 ${p[0]} ms, p95 ${p[1]} ms`,
    )
    expect.soft({ receiver, lost, twice, inOrder }).toEqual({ receiver, lost: 0, twice: 0, inOrder: true })
  }
  process.stdout.write(`${lines.join('\n')}\n`)
  // What was perhaps read already is pushed again into a session, and says so.
  const unmarked = turns.filter(({ meta }) => meta.again !== 'true').map(({ content }) => content)
  expect(new Set(unmarked).size).toBe(unmarked.length)
})
