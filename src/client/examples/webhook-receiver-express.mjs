// A webhook receiver on Express. WEBHOOK_SECRET is what POST /agents/{id}/webhooks returned.
import { AmsError, verifyWebhook } from '@agent-messaging/client'
import express from 'express'

const seen = new Set() // deliveries can be repeated; a database would remember them

const app = express()
// The signature covers the body as it was sent, so no express.json() before this.
app.post('/webhooks', async (request, response) => {
  try {
    const { eventId, data } = await verifyWebhook(request, process.env.WEBHOOK_SECRET)
    if (!seen.has(eventId))
      console.log(`${data.agent.name} got ${data.message.subject} from ${data.message.from}`)
    seen.add(eventId)
    response.sendStatus(204)
  } catch (error) {
    if (!(error instanceof AmsError)) throw error
    response.status(401).send(error.message)
  }
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on ${server.address().port}`),
)
