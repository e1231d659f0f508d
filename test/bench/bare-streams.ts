import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { presentEvent } from '../../src/event/event.ts'
import { eventOf } from './committer.ts'

/**
 * The counterpart of event streams, in its own process: `bare-streams.ts DATABASE_URL` sends its port. Each
 * stream (`GET /AGENT`) gets its agent's frames, which are serialized once. A notification on the channel `bare` names agents; their new
 * events are read with one select.
 */

const NEW = `select e.agent_id, e.id, e.message_id, e.created_at from unnest($1::uuid[], $2::bigint[]) p (agent_id, after)
  join event e on e.agent_id = p.agent_id and e.id > p.after order by e.id`

const streams = new Map<string, Set<ServerResponse>>()
const positions = new Map<string, number>()
const server = createServer((request, response) => {
  const agentId = request.url!.slice(1)
  response
    .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    .write('retry: 3000\n\n')
  const ofAgent = streams.get(agentId) ?? new Set()
  streams.set(agentId, ofAgent.add(response))
  response.once('close', () => ofAgent.delete(response))
})

const client = new pg.Client({ connectionString: process.argv[2] })
await client.connect()
const pool = new pg.Pool({ connectionString: process.argv[2], max: 4 })
await client.query('listen bare')
client.on('notification', async ({ payload }) => {
  const agentIds = payload!.split(',')
  const after = agentIds.map((id) => positions.get(id) ?? 0)
  const { rows } = await pool.query({ name: 'new', text: NEW, values: [agentIds, after] })
  const frames = new Map<string, string>()
  for (const event of rows.map(eventOf)) {
    const frame = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`
    frames.set(event.agentId, (frames.get(event.agentId) ?? '') + frame)
    positions.set(event.agentId, event.id)
  }
  for (const [agentId, text] of frames) for (const stream of streams.get(agentId) ?? []) stream.write(text)
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
