import pg from 'pg'
import { createPoster } from './bare-post.ts'
import { eventOf } from './committer.ts'
import type { Endpoint } from './webhook-world.ts'

/**
 * The durable limit of webhooks, in its own process: `bare-webhooks.ts DATABASE_URL`. `{endpoints}` is answered
 * with `'known'`. A notification on the channel `bare` names agents; their new events are read with one select, and
 * posted with signatures and in order. Nothing is recorded.
 */

const NEW = `select e.agent_id, e.id, e.message_id, e.created_at from unnest($1::uuid[], $2::bigint[]) p (agent_id, after)
  join event e on e.agent_id = p.agent_id and e.id > p.after order by e.id`

const posters = new Map<string, { post: ReturnType<typeof createPoster>; read: number }>()

const listener = new pg.Client({ connectionString: process.argv[2] })
await listener.connect()
await listener.query('listen bare')
const pool = new pg.Pool({ connectionString: process.argv[2], max: 4 })

const deliver = async (agentIds: string[]): Promise<void> => {
  const after = agentIds.map((id) => posters.get(id)!.read)
  const { rows } = await pool.query({ name: 'new', text: NEW, values: [agentIds, after] })
  for (const event of rows.map(eventOf)) {
    const poster = posters.get(event.agentId)!
    if (event.id <= poster.read) continue // read meanwhile for another notification
    poster.read = event.id
    poster.post(event)
  }
}

// Another limit of the same suite listens on the same channel.
const known = (payload: string) => payload.split(',').filter((id) => posters.has(id))
listener.on('notification', ({ payload }) => void deliver(known(payload!)))
process.on('message', ({ endpoints }: { endpoints: Endpoint[] }) => {
  for (const endpoint of endpoints) posters.set(endpoint.agentId, { post: createPoster(endpoint), read: 0 })
  process.send?.('known')
})
process.on('disconnect', () => process.exit())
process.send?.('up')
