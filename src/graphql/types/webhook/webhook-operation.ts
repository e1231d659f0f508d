import { sentenceOf } from '../../../api/resource.ts'
import { resendDelivery, testWebhook, unblockWebhook } from '../../../api/webhook/delivery.ts'
import { Replay, replayWebhook, resendGivenUp } from '../../../api/webhook/replay.ts'
import { mutation } from '../../builder/rendered.ts'
import { Delivery } from './delivery.ts'
import { Webhook, webhookOf } from './webhook.ts'

const once = { type: Delivery, description: 'The delivery, which is attempted once.' }
const events = { description: sentenceOf(Replay.fields.events) }

mutation(testWebhook, 'The webhook to test.', (t) => ({
  delivery: t.field({ ...once, resolve: ({ result }) => result }),
}))

mutation(resendDelivery, 'The delivery to resend.', (t) => ({
  delivery: t.field({ ...once, resolve: ({ result }) => result }),
}))

mutation(unblockWebhook, 'The delivery that the others of a webhook wait for.', (t) => ({
  webhook: t.prismaField({ type: Webhook, description: 'The webhook.', resolve: webhookOf }),
}))

mutation(replayWebhook, 'The part of the event log to resend.', (t) => ({
  events: t.int({ ...events, resolve: ({ result }) => result.events }),
}))

mutation(resendGivenUp, 'The events to resend.', (t) => ({
  events: t.int({ ...events, resolve: ({ result }) => result.events }),
}))
