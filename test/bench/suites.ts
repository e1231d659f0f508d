import { benchDashboard, SECONDS as DASHBOARD_SECONDS } from './dashboard.ts'
import { benchDay, SECONDS as DAY_SECONDS } from './day.ts'
import { benchFanOut } from './fan-out.ts'
import { benchGrowth } from './growth.ts'
import { benchMailToWebhook } from './mail-to-webhook.ts'
import { benchMcp } from './mcp.ts'
import { benchMemory } from './memory.ts'
import { benchPages } from './pages.ts'
import { benchProcesses } from './processes.ts'
import { benchReception } from './reception.ts'
import type { Suite } from './row.ts'
import { benchScaling } from './scaling.ts'
import { benchSend } from './send.ts'
import { benchStreams } from './streams.ts'
import { benchBacklog } from './webhook-backlog.ts'
import { benchWebhooks } from './webhooks.ts'

/** Every suite by the name that selects it: `npm run bench -- pages`. */
export const SUITES: Record<string, Suite> = {
  reception: benchReception,
  pages: benchPages,
  send: benchSend,
  mcp: benchMcp,
  streams: benchStreams,
  memory: benchMemory,
  'fan-out': benchFanOut,
  webhooks: benchWebhooks,
  'webhook-backlog': benchBacklog,
  'mail-to-webhook': benchMailToWebhook,
  dashboard: benchDashboard,
  growth: benchGrowth,
  day: benchDay,
  processes: benchProcesses,
  scaling: benchScaling,
}

const SUITE_MS = 120_000
/**
 * Filling a database with a million messages takes minutes, as starting ten processes does; warming up and comparing
 * with six servers takes eight, comparing pages with four takes three, and delivering what was sent in each of two
 * comparisons takes two. Idle lanes are idle for five seconds before each round, and memory is read once it is steady.
 */
const LONGER_MS: Record<string, number> = {
  day: 300_000 + DAY_SECONDS * 1_000,
  dashboard: 180_000 + DASHBOARD_SECONDS * 1_000,
  growth: 900_000,
  memory: 200_000,
  pages: 200_000,
  processes: 900_000,
  reception: 600_000,
  scaling: 900_000,
  send: 200_000,
  streams: 200_000,
  webhooks: 200_000,
}

/** Returns the maximum time of a suite in milliseconds. */
export const timeOf = (name: string): number => LONGER_MS[name] ?? SUITE_MS
