import { z } from 'zod'
import { AppError } from '../core/errors.ts'
import {
  CallbackError,
  MAX_SUBSCRIPTIONS,
  subscribeWebhook,
  TooManySubscriptions,
  unsubscribeWebhook,
} from '../webhook/index.ts'
import { callbackFailed, exhausted, refusal } from './call/errors.ts'
import type { Call } from './call/tool.ts'
import { eventParams, readWanted, startOf } from './events.ts'

/** `events/subscribe` and `events/unsubscribe`: webhooks that the client renews. */

const delivery = z.looseObject({ mode: z.literal('webhook').optional(), url: z.string().max(2048) })

export const subscribeParams = eventParams.extend({
  delivery: delivery.extend({ mode: z.literal('webhook'), secret: z.string().max(200) }),
  ttlMs: z.number().positive().nullish(),
})
export const unsubscribeParams = eventParams.extend({ delivery })

/** Rethrows in the extension's codes, with the name of the field in this request. */
const inEventCodes = (error: unknown): never => {
  if (error instanceof CallbackError) throw refusal(callbackFailed(error.reason, error.message))
  if (error instanceof TooManySubscriptions)
    throw refusal(exhausted('subscriptions', MAX_SUBSCRIPTIONS, error.message))
  if (error instanceof AppError && error.code === 'invalid_input' && error.field === 'url')
    throw new AppError('invalid_input', `delivery.${error.message}`, { field: 'delivery.url', cause: error })
  throw error
}

/** Subscribes or renews. A renewal ignores the cursor, unless the subscription has expired meanwhile. */
export const subscribe = async (call: Call, params: z.output<typeof subscribeParams>) => {
  const wanted = await readWanted(call, params)
  const start = await startOf(call, wanted.agent.id, params)
  const { url, secret } = params.delivery
  const input = { ...wanted, url, secret, after: start.after, ttlMs: params.ttlMs ?? null }
  const made = await subscribeWebhook(call.deps, call.viewer, input).catch(inEventCodes)
  const { status } = made
  return {
    id: made.id,
    refreshBefore: made.expiresAt.toISOString(),
    cursor: String(made.position),
    truncated: status === null && start.truncated,
    ...(status
      ? {
          deliveryStatus: {
            active: status.active,
            lastDeliveryAt: status.lastDeliveryAt?.toISOString() ?? null,
            lastError: status.lastError,
            ...(status.failedSince ? { failedSince: status.failedSince.toISOString() } : {}),
          },
        }
      : {}),
  }
}

/** Ends a subscription. If there is none, it has already ended: the result is the same. */
export const unsubscribe = async (call: Call, params: z.output<typeof unsubscribeParams>) => {
  const wanted = await readWanted(call, params)
  await unsubscribeWebhook(call.deps, call.viewer, { ...wanted, url: params.delivery.url })
  return {}
}
