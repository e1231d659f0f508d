import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rpc } from '../support/mcp.ts'
import { openCommitter } from './committer.ts'
import { ask, type Bench, startBench, startPart } from './machinery.ts'
import { startNchan, subscriberRequest } from './nchan.ts'
import { atMostItself, type BenchRow, type Goal, type Suite } from './row.ts'
import { createStreamAgents, type StreamAgent, streamRequest, subscribeRequest } from './stream-agents.ts'

const STREAMS = Number(process.env.BENCH_STREAMS ?? 1_000)
/** Time in milliseconds in which a heap shrinks after its garbage was collected. */
const SETTLE_MS = 1_000
/** A process that shrinks by less in each of some such times is steady: V8 gives pages back later than it frees them. */
const STEADY_KB = 500
const STEADY_TURNS = 4
const MAX_TURNS = 20
/** Streams opened and closed before the measurement: what they allocate once does not count. */
const WARMING = 200
const COLLECT = `--require ${join(import.meta.dirname, 'collect-garbage.cjs')}`

/** Returns the proportional set size of a process in KB. */
export const pssOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))![1])

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  )

/** A fresh process that serves streams; `collects` if it collects garbage on SIGUSR2. */
interface Holder {
  port: number
  pid: number
  collects: boolean
  requests: string[]
}

/** Returns the proportional set size of a process with its children in KB, once it no longer shrinks. */
const settled = async ({ pid, collects }: Holder): Promise<number> => {
  let size = Number.POSITIVE_INFINITY
  for (let turn = 0, steady = 0; turn < MAX_TURNS && steady < STEADY_TURNS; turn++) {
    if (collects) process.kill(pid, 'SIGUSR2')
    await sleep(SETTLE_MS)
    const now = [pid, ...childrenOf(pid)].reduce((sum, each) => sum + pssOf(each), 0)
    steady = size - now < STEADY_KB ? steady + 1 : 0
    size = now
  }
  return size
}

/** Measures the KB that each open stream adds. */
const measure = async (holder: Holder): Promise<number> => {
  const { child } = await startPart('stream-client.ts')
  const { port, requests } = holder
  await ask(child, { port, requests: requests.slice(0, WARMING) })
  await ask(child, 'close')
  const before = await settled(holder)
  await ask(child, { port, requests })
  const each = ((await settled(holder)) - before) / requests.length
  child.disconnect()
  return each
}

const startPlain = async (
  file: string,
  requests: string[],
  collects: boolean,
  ...args: string[]
): Promise<Holder> => {
  if (collects) process.env.NODE_OPTIONS = COLLECT
  const { child, ready } = await startPart<number>(file, ...args)
  delete process.env.NODE_OPTIONS
  return { port: ready, pid: child.pid!, collects, requests }
}

const mcpRequest = ({ token }: StreamAgent): string => {
  const { headers, body } = rpc('events/stream', { name: 'message.received', arguments: {}, cursor: null })
  const text = JSON.stringify(body)
  const all = {
    ...headers,
    Host: 'localhost',
    Authorization: `Bearer ${token}`,
    'Content-Length': text.length,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

/** Measures a fresh process of the service. */
const measureOurs = async (bench: Bench, requests: string[], collects = true): Promise<number> => {
  const service = await bench.another(collects ? { NODE_OPTIONS: COLLECT } : {})
  const port = Number(new URL(service.http).port)
  const each = await measure({ port, pid: service.pid, collects, requests })
  await service.stop()
  return each
}

/**
 * The memory of one of 1,000 open streams and subscriptions, each kind in a fresh process. Without a forced collection it
 * contains what V8's young generation grew by while they were opened, which more streams do not add to.
 */
export const benchMemory: Suite = async (report) => {
  if (process.platform !== 'linux')
    return report({ skipped: 'memory: only Linux has /proc/PID/smaps_rollup' })
  const bench = await startBench()
  const { db } = await openCommitter(bench)
  const agents = await createStreamAgents(db, STREAMS)
  const row = (
    name: string,
    against: string,
    [ours, counterpart]: [number, number],
    goal?: Goal,
  ): BenchRow => ({
    ...{ name: `memory of ${name} (PSS)`, against, unit: 'KB', ours, counterpart, goal },
    ratio: ours / counterpart,
    spread: [ours / counterpart, ours / counterpart],
  })
  const stream = await measureOurs(bench, agents.map(streamRequest))
  const uncollected = await measureOurs(bench, agents.map(streamRequest), false)
  const own = 'a stream, no forced collection'
  const nchan = await startNchan()
  if ('missing' in nchan) report({ skipped: `memory against nchan: ${nchan.missing}` })
  else {
    const requests = agents.map(({ id }) => subscriberRequest(id))
    const theirs = await measure({ port: nchan.port, pid: nchan.pid, collects: false, requests })
    report(row('a stream', 'nchan', [stream, theirs], atMostItself(18)))
    report(row(own, 'nchan', [uncollected, theirs], atMostItself(14)))
  }
  const plain = agents.map(({ id }) => `GET /${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const bareOf = async (collects: boolean) =>
    measure(await startPlain('bare-streams.ts', plain, collects, bench.postgres.url))
  report(row('a stream', 'bare node', [stream, await bareOf(true)], atMostItself(18)))
  report(row(own, 'bare node', [uncollected, await bareOf(false)], atMostItself(14)))
  const subscription = await measureOurs(bench, agents.map(subscribeRequest))
  const yoga = await measure(await startPlain('bare-subscriptions.ts', agents.map(subscribeRequest), true))
  report(row('a subscription', 'Yoga', [subscription, yoga], atMostItself(25)))
  report(row('an MCP stream', 'a stream', [await measureOurs(bench, agents.map(mcpRequest)), stream]))
}
