import { benchFanOut } from './graphql-fan-out.ts'
import { benchMcp } from './mcp.ts'
import { benchPages } from './pages.ts'
import { benchReception } from './reception.ts'
import type { BenchRow, Suite } from './row.ts'
import { benchSend } from './send.ts'
import { benchStreams } from './streams.ts'
import { benchWebhooks } from './webhooks.ts'

const listed =
  (bench: () => Promise<BenchRow[]>): Suite =>
  async (report) => {
    for (const row of await bench()) report(row)
  }

/** Every suite by the name that selects it: `npm run bench -- pages`. */
export const SUITES: Record<string, Suite> = {
  reception: benchReception,
  pages: benchPages,
  send: benchSend,
  mcp: benchMcp,
  streams: listed(benchStreams),
  'graphql-fan-out': listed(benchFanOut),
  webhooks: listed(benchWebhooks),
}
