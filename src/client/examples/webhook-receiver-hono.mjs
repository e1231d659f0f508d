// A webhook receiver on Hono. WEBHOOK_SECRET is what POST /agents/{id}/webhooks returned.

import { AmsError, verifyWebhook } from '@agent-messaging/client'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const seen = new Set() // deliveries can be repeated; a database would remember them

const app = new Hono()
app.post('/webhooks', async (c) => {
  try {
    const { eventId, data } = await verifyWebhook(c.req.raw, process.env.WEBHOOK_SECRET)
    if (!seen.has(eventId))
      console.log(`${data.agent.name} got ${data.message.subject} from ${data.message.from}`)
    seen.add(eventId)
    return c.body(null, 204)
  } catch (error) {
    if (error instanceof AmsError) return c.text(error.message, 401)
    throw error
  }
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`listening on ${port}`),
)
