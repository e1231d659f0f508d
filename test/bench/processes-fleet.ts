import type { ChildProcess } from 'node:child_process'
import { dkimKey } from '../support/mail.ts'
import { until } from '../support/until.ts'
import { ask, type Bench, type Service, startBench, startPart } from './machinery.ts'
import { startZone } from './mail-world.ts'
import { type Fleet, type FleetData, fillFleet } from './processes-data.ts'
import { COUNTING } from './statements.ts'
import { streamRequest } from './stream-agents.ts'

export type Role = 'api' | 'smtp' | 'worker'
export const ROLES: readonly Role[] = ['api', 'smtp', 'worker']

/** The running processes of a fleet, with its clients. */
export interface RunningFleet {
  fleet: Fleet
  bench: Bench
  data: FleetData
  processes: Record<Role, Service[]>
  /** Each has opened the streams of one API process. */
  readers: ChildProcess[]
  receiver: ChildProcess
  /** One for each SMTP process. */
  senders: { child: ChildProcess; port: number }[]
  stop(): Promise<void>
}

/** Long enough for mails of thousands of streams on a busy machine. */
const ARRIVE_MS = 120_000

const times = <Made>(count: number, make: (n: number) => Promise<Made>): Promise<Made[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

/** Opens the streams of all agents that listen, evenly at the API processes. */
const openStreams = (api: readonly Service[], { listeners }: FleetData): Promise<ChildProcess[]> =>
  times(api.length, async (n) => {
    const { child } = await startPart('stream-checker.ts')
    const requests = listeners.filter((_, index) => index % api.length === n).map(streamRequest)
    await ask(child, { port: Number(new URL(api[n]!.http).port), requests })
    return child
  })

export const startFleet = async (fleet: Fleet): Promise<RunningFleet> => {
  const key = dkimKey('example.com')
  const environment = { DNS_SERVERS: await startZone(key) }
  const bench = await startBench({ ...environment, ROLES: 'api' }, { ...COUNTING, max_connections: '400' })
  const receiver = await startPart<number>('webhook-receiver.ts')
  const data = await fillFleet(bench, fleet, `http://127.0.0.1:${receiver.ready}`)
  await ask(receiver.child, { secrets: data.secrets })
  const start = (role: Role) => bench.another({ ROLES: role })
  const processes = {
    api: [bench, ...(await times(fleet.api - 1, () => start('api')))],
    smtp: await times(fleet.smtp, () => start('smtp')),
    worker: await times(fleet.worker, () => start('worker')),
  }
  const readers = await openStreams(processes.api, data)
  const senders = await times(fleet.smtp, async (n) => ({
    child: (await startPart('smtp-client.ts', JSON.stringify(key))).child,
    port: processes.smtp[n]!.smtp.port,
  }))
  return {
    ...{ fleet, bench, data, processes, readers, receiver: receiver.child, senders },
    async stop() {
      for (const { child } of senders) child.kill()
      for (const reader of readers) reader.kill()
      receiver.child.kill()
      await Promise.all(ROLES.flatMap((role) => processes[role].map((each) => each.stop())))
    },
  }
}

/** Number of events that the streams have received. */
const receivedBy = async (readers: readonly ChildProcess[]): Promise<number> =>
  (await Promise.all(readers.map((reader) => ask<number>(reader, 'count')))).reduce((sum, each) => sum + each)

/**
 * Sends mails to the first `active` agents, through all SMTP processes; resolves when the webhook and the stream of
 * each have received it, in order and once: both ends check that. Returns the longest time in milliseconds in which
 * no webhook arrived.
 */
export const sendMails = async (running: RunningFleet, mails: number, active: number): Promise<number> => {
  const { data, readers, receiver, senders } = running
  const to = Array.from({ length: active }, (_, index) => data.addressOf(index))
  const each = Math.round(mails / senders.length)
  const before = await receivedBy(readers)
  await ask(receiver, { count: each * senders.length })
  const posted = new Promise<[string, number][]>((resolve) => receiver.once('message', resolve))
  await Promise.all(
    senders.map(async ({ child, port }) => {
      await ask(child, { prepare: { kind: 'plain', mails: each, to } })
      await ask(child, { port, sessions: 10 })
    }),
  )
  const arrivals = (await posted).map(([, at]) => at)
  await until(async () => (await receivedBy(readers)) - before === each * senders.length, ARRIVE_MS)
  return Math.max(...arrivals.slice(1).map((at, n) => at - arrivals[n]!))
}
