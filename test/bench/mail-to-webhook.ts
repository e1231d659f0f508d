import type { ChildProcess } from 'node:child_process'
import { dkimKey } from '../support/mail.ts'
import { ask, type Bench, startBench, startPart } from './machinery.ts'
import { createRecipients, startZone } from './mail-world.ts'
import { compareAll, type Side } from './paired.ts'
import { percentile, type Suite } from './row.ts'
import type { Sent } from './smtp-client.ts'
import { expectPosts } from './webhook-world.ts'

const AGENTS = 20

/** An agent's address, and its webhook at the receiver. */
export interface MailEndpoint {
  agentId: string
  address: string
  url: string
  secret: string
}

/** Where mails go in, and who gets the webhooks. */
interface Way {
  port: number
  node: number
  postgres: number
  endpoints: MailEndpoint[]
}

/** The processes at both ends. */
interface Ends {
  client: ChildProcess
  receiver: ChildProcess
}

const createEndpoints = async (
  bench: Bench,
  receiver: { child: ChildProcess; ready: number },
): Promise<MailEndpoint[]> => {
  const endpoints: MailEndpoint[] = []
  for (const { id, address } of await createRecipients(bench, AGENTS)) {
    const url = `http://127.0.0.1:${receiver.ready}/${id}`
    const { secret } = (await bench.api('POST', `/agents/${id}/webhooks`, { url })).body
    endpoints.push({ agentId: id, address, url, secret })
  }
  return endpoints
}

/** Tells the receiver of endpoints under paths of their own. */
const make = async (receiver: ChildProcess, endpoints: MailEndpoint[]): Promise<MailEndpoint[]> => {
  const secrets = Object.fromEntries(endpoints.map(({ url, secret }) => [new URL(url).pathname, secret]))
  await ask(receiver, { secrets })
  return endpoints
}

/** Sends mails; returns when each DATA ended, and when each webhook arrived, both in milliseconds since 1970. */
const send = async (
  { client, receiver }: Ends,
  { port, endpoints }: Way,
  sessions: number,
  mails: number,
) => {
  const to = endpoints.slice(0, sessions).map(({ address }) => address)
  await ask(client, { prepare: { kind: 'plain', mails, to } })
  const { arrived } = await expectPosts({ receiver }, mails)
  const { startedAt, ends } = await ask<Sent>(client, { port, sessions })
  return { startedAt, ends, arrivals: (await arrived).map(([, at]) => at) }
}

/** Measures mails a second until the last webhook has arrived. */
const throughput = (ends: Ends, way: Way, mails: number): Side => ({
  cpu: { node: way.node, postgres: way.postgres, units: mails },
  round: async () => {
    const { startedAt, arrivals } = await send(ends, way, AGENTS, mails)
    return [(mails * 1000) / (arrivals.at(-1)! - startedAt)]
  },
})

/** Measures the milliseconds from the end of DATA to the arrival of the webhook, one mail after the other. */
const latency = (both: Ends, way: Way, mails: number): Side => ({
  round: async () => {
    const { ends, arrivals } = await send(both, way, 1, mails)
    const times = arrivals.map((at, n) => at - ends[n]!)
    return [percentile(times, 0.5), percentile(times, 0.99)]
  },
})

/** The whole way of a mail: received, checked and stored, until its webhook has arrived. */
export const benchMailToWebhook: Suite = async (report) => {
  const key = dkimKey('example.com')
  const bench = await startBench({ DNS_SERVERS: await startZone(key) })
  const postgres = bench.postgres.pid
  const receiver = await startPart<number>('webhook-receiver.ts')
  const client = await startPart('smtp-client.ts', JSON.stringify(key))
  const bare = await startPart<number>('bare-smtp.ts', bench.postgres.url)
  const endpoints = await make(receiver.child, await createEndpoints(bench, receiver))
  const theirs = await make(
    receiver.child,
    endpoints.map((endpoint) => ({ ...endpoint, url: `${endpoint.url}/bare` })),
  )
  await ask(bare.child, { endpoints: theirs })
  const ends = { client: client.child, receiver: receiver.child }
  const ours: Way = { port: bench.smtp.port, node: bench.pid, postgres, endpoints }
  const limit: Way = { port: bare.ready, node: bare.child.pid!, postgres, endpoints: theirs }
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
