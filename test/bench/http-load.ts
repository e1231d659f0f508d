import type { ChildProcess } from 'node:child_process'
import { ask } from './machinery.ts'

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

/** Returns a side that measures requests per second over 16 connections, `total` in each round. */
export const httpSide = (
  client: ChildProcess,
  { origin, requests, node, postgres }: HttpTarget,
  total = 2_000,
) => ({
  cpu: { node, postgres, units: total },
  round: async () => {
    const { seconds } = await ask<{ seconds: number }>(client, {
      origin,
      requests,
      connections: CONNECTIONS,
      total,
    })
    return total / seconds
  },
})
