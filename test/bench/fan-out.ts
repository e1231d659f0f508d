import type { ChildProcess } from 'node:child_process'
import { openCommitter } from './committer.ts'
import { ask, nextMessage, startBench, startPart } from './machinery.ts'
import { compare } from './paired.ts'
import { median, type Suite } from './row.ts'
import { createStreamAgents, subscribeRequest } from './stream-agents.ts'
import { openReaders } from './streams.ts'

/** An agent can have 500 streams and subscriptions in a process, and a token 200. */
const SUBSCRIBERS = 500
const TOKENS = 5
const EVENTS = 15

/** Returns the median of the milliseconds from before an event is committed to its arrival at the last reader. */
const timesOf = async (readers: ChildProcess, raise: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let n = 0; n < EVENTS; n++) {
    await ask(readers, { frames: 1 })
    const all = nextMessage(readers)
    const from = performance.now()
    await raise()
    await all
    times.push(performance.now() - from)
  }
  return median(times)
}

/** One event to all GraphQL subscribers of an agent, committed by another process. (Lower is better.) */
export const benchFanOut: Suite = async (report) => {
  const bench = await startBench()
  const { http, postgres, api } = bench
  const committer = await openCommitter(bench)
  const [agent, other] = await createStreamAgents(committer.db, 2)
  const tokens: string[] = []
  for (let n = 0; n < TOKENS; n++)
    tokens.push((await api('POST', `/agents/${agent!.id}/tokens`, {})).body.token)
  const requests = Array.from({ length: SUBSCRIBERS }, (_, n) =>
    subscribeRequest({ id: agent!.id, token: tokens[n % TOKENS]! }),
  )
  const readers = await openReaders(Number(new URL(http).port), requests)
  const bare = await startPart<number>('bare-streams.ts', postgres.url)
  const plain = `GET /${other!.id} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const theirs = await openReaders(
    bare.ready,
    Array.from({ length: SUBSCRIBERS }, () => plain),
  )
  report(
    await compare(
      {
        name: `one event to ${SUBSCRIBERS} subscribers, committed by another process`,
        against: 'bare node, the same frame to all',
        unit: 'ms',
      },
      {
        round: () => timesOf(readers, async () => committer.announce(await committer.store([agent!.id], 1))),
      },
      {
        round: () =>
          timesOf(theirs, async () => {
            await committer.store([other!.id], 1)
            await committer.db.pool.query('select pg_notify($1, $2)', ['bare', other!.id])
          }),
      },
      { seconds: 15 },
    ),
  )
}
