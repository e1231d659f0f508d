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
) => ({
  cpu: { ...pids, units: STREAMS * EACH * TURNS },
  round: async () => {
    let ms = 0
    for (let turn = 0; turn < TURNS; turn++) {
      await ask(readers, { frames: EACH })
      const all = nextMessage(readers)
      const from = performance.now()
      await raise()
      await all
      ms += performance.now() - from
    }
    return (STREAMS * EACH * TURNS * 1000) / ms
  },
})

/** Publishes to nchan as many messages as a commit has events, from a process of its own. */
const publisherTo = async (port: number, ids: readonly string[]) => {
  const { child } = await startPart('http-client.ts')
  const body = JSON.stringify({ type: 'message.received', padding: 'x'.repeat(300) })
  const requests = ids.map((id) => ({ method: 'POST', path: `/pub/${id}`, headers: {}, body }))
  const order = { origin: `http://127.0.0.1:${port}`, requests, connections: 16, total: ids.length * EACH }
  return () => ask(child, order)
}

/** Events to the streams of 1,000 agents, committed by another process than the one that has the streams. */
export const benchStreams: Suite = async (report) => {
  const { http, pid, postgres } = await startBench()
  const committer = await openCommitter(postgres.url)
  const agents = await createStreamAgents(committer.db, STREAMS)
  const ids = agents.map(({ id }) => id)
  const about = { name: `${STREAMS} agents' streams, committed by another process`, unit: 'events/s' }
  const ours = sideOf(
    await openReaders(Number(new URL(http).port), agents.map(streamRequest)),
    async () => committer.announce(await committer.store(ids, EACH)),
    { node: pid, postgres: postgres.pid },
  )
  const nchan = await startNchan()
  if ('missing' in nchan) report({ skipped: `streams against nchan: ${nchan.missing}` })
  else {
    const requests = ids.map(subscriberRequest)
    const readers = await openReaders(nchan.port, requests)
    const publish = await publisherTo(nchan.port, ids)
    const theirs = sideOf(readers, publish, { node: nchan.pid, postgres: null })
    const goal = atLeast(0.7)
    report(await compare({ ...about, against: 'nchan, published by another process', goal }, ours, theirs))
  }
  const bare = await startPart<number>('bare-streams.ts', postgres.url)
  const others = (await createStreamAgents(committer.db, STREAMS)).map(({ id }) => id)
  const requests = others.map((id) => `GET /${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const notifyBare = async (events: readonly LoggedEvent[]) => {
    const named = [...new Set(events.map(({ agentId }) => agentId))]
    for (let n = 0; n < named.length; n += NAMED)
      await committer.db.pool.query('select pg_notify($1, $2)', ['bare', named.slice(n, n + NAMED).join(',')])
  }
  const theirs = sideOf(
    await openReaders(bare.ready, requests),
    async () => notifyBare(await committer.store(others, EACH)),
    { node: bare.child.pid!, postgres: postgres.pid },
  )
  report(await compare({ ...about, against: 'bare node, one select a notification' }, ours, theirs))
}
