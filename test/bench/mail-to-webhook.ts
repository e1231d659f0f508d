import { dkimKey } from '../support/mail.ts'
import { ask, startBench, startPart } from './machinery.ts'
import { createEndpoints, type Ends, expectAt, sendMails, startEnds, type Way } from './mail-way.ts'
import { startZone } from './mail-world.ts'
import { compareAll, type Side } from './paired.ts'
import { percentile, type Suite } from './row.ts'

const AGENTS = 20

/** A way with the processes whose CPU is counted. */
interface Measured extends Way {
  node: number
  postgres: number
}

/** Measures mails a second until the last webhook has arrived. */
const throughput = (ends: Ends, way: Measured, mails: number): Side => ({
  cpu: { node: way.node, postgres: way.postgres, units: mails },
  round: async () => {
    const { startedAt, arrivals } = await sendMails(ends, way, { kind: 'plain', mails, sessions: AGENTS })
    return [(mails * 1000) / (arrivals.at(-1)! - startedAt)]
  },
})

/** Measures the milliseconds from the end of DATA to the arrival of the webhook, one mail after the other. */
const latency = (both: Ends, way: Way, mails: number): Side => ({
  round: async () => {
    const { ends, arrivals } = await sendMails(both, way, { kind: 'plain', mails, sessions: 1 })
    const times = arrivals.map((at, n) => at - ends[n]!)
    return [percentile(times, 0.5), percentile(times, 0.99)]
  },
})

/** The whole way of a mail: received, checked and stored, until its webhook has arrived. */
export const benchMailToWebhook: Suite = async (report) => {
  const key = dkimKey('example.com')
  const bench = await startBench({ DNS_SERVERS: await startZone(key) })
  const postgres = bench.postgres.pid
  const ends = await startEnds(key)
  const bare = await startPart<number>('bare-smtp.ts', bench.postgres.url)
  const endpoints = await createEndpoints(bench, ends, AGENTS)
  const theirs = await expectAt(
    ends,
    endpoints.map((endpoint) => ({ ...endpoint, url: `${endpoint.url}/bare` })),
  )
  await ask(bare.child, { endpoints: theirs })
  const ours: Measured = { port: bench.smtp.port, node: bench.pid, postgres, endpoints }
  const limit: Measured = { port: bare.ready, node: bare.child.pid!, postgres, endpoints: theirs }
  const against = 'smtp-server, one insert, signed POST'
  const rate = { name: `mail in to webhook out, ${AGENTS} sessions`, against, unit: 'mails/s' }
  const [whole] = await compareAll([rate], throughput(ends, ours, 400), throughput(ends, limit, 400), {
    seconds: 10,
  })
  report(whole!)
  const name = 'mail in to webhook out, 1 session'
  const latencies = await compareAll(
    [
      { name: `${name}, p50`, against, unit: 'ms' },
      { name: `${name}, p99`, against, unit: 'ms' },
    ],
    latency(ends, ours, 150),
    latency(ends, limit, 150),
    { seconds: 10 },
  )
  for (const row of latencies) report(row)
}
