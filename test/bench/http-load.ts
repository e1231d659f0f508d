import type { ChildProcess } from 'node:child_process'
import { ask } from './machinery.ts'
import { type Comparison, compareAll, type Extent, type Side } from './paired.ts'
import { atMost, type BenchRow, type Goal } from './row.ts'

export interface HttpRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

export const CONNECTIONS = 16

/** What to measure: where it listens, its processes, and the requests, which are sent in rotation. */
export interface HttpTarget {
  origin: string
  requests: HttpRequest[]
  node: number
  postgres: number | null
}

/** Requests in a round. */
const TOTAL = 2_000

/** Returns a side that measures requests per second and the time of 99 % of them, over 16 connections. */
const timedSide = (
  client: ChildProcess,
  { origin, requests, node, postgres }: HttpTarget,
  total = TOTAL,
): Side & { cpu: object } => ({
  cpu: { node, postgres, units: total },
  round: async () => {
    const order = { origin, requests, connections: CONNECTIONS, total }
    const { seconds, p99 } = await ask<{ seconds: number; p99: number }>(client, order)
    return [total / seconds, p99]
  },
})

/** Returns a side that measures requests per second alone. */
export const httpSide = (client: ChildProcess, target: HttpTarget, total = TOTAL) => {
  const { cpu, round } = timedSide(client, target, total)
  return { cpu, round: async () => (await round())[0]! }
}

/** Compares requests a second, and the time of 99 % of them. */
export const compareRequests = (
  client: ChildProcess,
  about: Pick<Comparison, 'name' | 'against'> & { goal?: Goal | undefined },
  { ours, theirs, extent = { seconds: 12 } }: { ours: HttpTarget; theirs: HttpTarget; extent?: Extent },
): Promise<BenchRow[]> => {
  const name = `${about.name}, ${CONNECTIONS} connections`
  return compareAll(
    [
      { ...about, name, unit: 'requests/s' },
      { ...about, name: `${name}: p99`, unit: 'ms', goal: atMost(2) },
    ],
    timedSide(client, ours),
    timedSide(client, theirs),
    extent,
  )
}
