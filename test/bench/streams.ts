import type { ChildProcess } from 'node:child_process'
import type { LoggedEvent } from '../../src/event/event.ts'
import { openCommitter } from './committer.ts'
import { ask, nextMessage, startBench, startPart } from './machinery.ts'
import { startNchan, subscriberRequest } from './nchan.ts'
import { compare } from './paired.ts'
import { atLeast, type Suite } from './row.ts'
import { createStreamAgents, streamRequest } from './stream-agents.ts'

const STREAMS = Number(process.env.BENCH_STREAMS ?? 1_000)
/** Events that each agent gets in one commit, as from a group commit under load. */
const EACH = 5
/** Commits in a round. */
const TURNS = 4
/** Commits of one event each, at a time, as from requests that arrive one by one. */
const AT_ONCE = 8
/** Agents that one notification names: PostgreSQL limits it to 8,000 bytes. */
const NAMED = 200

/** Opens a stream with each of the requests. */
export const openReaders = async (port: number, requests: string[]): Promise<ChildProcess> => {
  const { child } = await startPart('stream-client.ts')
  await ask(child, { port, requests })
  return child
}

/** Measures events a second, from before they are committed or published until the last one has arrived. */
const sideOf = (
  readers: ChildProcess,
  raise: () => Promise<unknown>,
  pids: { node: number; postgres: number | null },
  { each, turns } = { each: EACH, turns: TURNS },
) => ({
  cpu: { ...pids, units: STREAMS * each * turns },
  round: async () => {
    let ms = 0
    for (let turn = 0; turn < turns; turn++) {
      await ask(readers, { frames: each })
      const all = nextMessage(readers)
      const from = performance.now()
      await raise()
      await all
      ms += performance.now() - from
    }
    return (STREAMS * each * turns * 1000) / ms
  },
})

/** Publishes to nchan as many messages as a commit has events, or one for each agent, from a process of its own. */
const publisherTo = async (port: number, ids: readonly string[]) => {
  const { child } = await startPart('http-client.ts')
  const body = JSON.stringify({ type: 'message.received', padding: 'x'.repeat(300) })
  const requests = ids.map((id) => ({ method: 'POST', path: `/pub/${id}`, headers: {}, body }))
  const order = { origin: `http://127.0.0.1:${port}`, requests }
  return {
    batches: () => ask(child, { ...order, connections: 16, total: ids.length * EACH }),
    singles: () => ask(child, { ...order, connections: AT_ONCE, total: ids.length }),
  }
}

/** Runs `commit` for each agent, some at a time. */
const oneByOne = async (ids: readonly string[], commit: (id: string) => Promise<unknown>): Promise<void> => {
  const left = ids.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const id of left) await commit(id)
    }),
  )
}

/** Events to the streams of 1,000 agents, committed by another process than the one that has the streams. */
export const benchStreams: Suite = async (report) => {
  const bench = await startBench()
  const { http, pid, postgres } = bench
  const committer = await openCommitter(bench)
  const agents = await createStreamAgents(committer.db, STREAMS)
  const ids = agents.map(({ id }) => id)
  const about = { name: `${STREAMS} agents' streams, committed by another process`, unit: 'events/s' }
  const one = { ...about, name: `the same, single commits, ${AT_ONCE} at a time` }
  const single = { each: 1, turns: TURNS }
  const ourReaders = await openReaders(Number(new URL(http).port), agents.map(streamRequest))
  const ourPids = { node: pid, postgres: postgres.pid }
  const commit = async (to: readonly string[], each: number) =>
    committer.announce(await committer.store(to, each))
  const ours = sideOf(ourReaders, () => commit(ids, EACH), ourPids)
  const ourSingles = sideOf(ourReaders, () => oneByOne(ids, (id) => commit([id], 1)), ourPids, single)
  // A plan for empty tables reads all events for each agent, until PostgreSQL has looked at the tables by itself.
  await ours.round()
  await committer.db.pool.query('analyze')
  const nchan = await startNchan()
  if ('missing' in nchan) report({ skipped: `streams against nchan: ${nchan.missing}` })
  else {
    const requests = ids.map(subscriberRequest)
    const readers = await openReaders(nchan.port, requests)
    const publish = await publisherTo(nchan.port, ids)
    const pids = { node: nchan.pid, postgres: null }
    const against = 'nchan, published by another process'
    const theirs = sideOf(readers, publish.batches, pids)
    report(await compare({ ...about, against, goal: atLeast(0.7) }, ours, theirs))
    const singles = sideOf(readers, publish.singles, pids, single)
    report(await compare({ ...one, against, goal: atLeast(0.5) }, ourSingles, singles))
  }
  const bare = await startPart<number>('bare-streams.ts', postgres.url)
  const others = (await createStreamAgents(committer.db, STREAMS)).map(({ id }) => id)
  const requests = others.map((id) => `GET /${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const notifyBare = async (events: readonly LoggedEvent[]) => {
    const named = [...new Set(events.map(({ agentId }) => agentId))]
    for (let n = 0; n < named.length; n += NAMED)
      await committer.db.pool.query('select pg_notify($1, $2)', ['bare', named.slice(n, n + NAMED).join(',')])
  }
  const readers = await openReaders(bare.ready, requests)
  const pids = { node: bare.child.pid!, postgres: postgres.pid }
  const commitBare = async (to: readonly string[], each: number) =>
    notifyBare(await committer.store(to, each))
  const against = 'bare node, one select a notification'
  const theirs = sideOf(readers, () => commitBare(others, EACH), pids)
  report(await compare({ ...about, against }, ours, theirs))
  const singles = sideOf(readers, () => oneByOne(others, (id) => commitBare([id], 1)), pids, single)
  report(await compare({ ...one, against }, ourSingles, singles))
}
