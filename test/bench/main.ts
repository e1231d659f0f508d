import { benchGraphql } from './graphql.ts'
import { benchFanOut } from './graphql-fan-out.ts'
import { benchMcp } from './mcp.ts'
import { benchRest } from './rest.ts'
import { benchSmtp } from './smtp.ts'
import { benchStreams } from './streams.ts'
import { type BenchRow, printTable } from './table.ts'
import { benchWebhooks } from './webhooks.ts'

/** Every benchmark by the name that selects it: `npm run bench -- webhooks`. */
const benches: Record<string, () => Promise<BenchRow[]>> = {
  smtp: benchSmtp,
  rest: benchRest,
  mcp: benchMcp,
  graphql: benchGraphql,
  'graphql-fan-out': benchFanOut,
  streams: benchStreams,
  webhooks: benchWebhooks,
}

const selected = process.argv.slice(2)
const rows: BenchRow[] = []
for (const [name, bench] of Object.entries(benches)) {
  if (selected.length === 0 || selected.includes(name)) rows.push(...(await bench()))
}
printTable(rows)
