import type { Attempt, Delivery } from '../../webhook/deliveries.ts'
import type { DeliveryRequest } from '../../webhook/request.ts'

const withoutAnswer = ({ answer: _, ...attempt }: Attempt) => attempt

/** A delivery in a list, without the responses, which may take 3 KiB each. */
export const presentDelivery = ({ id, eventId, status, createdAt, attempts }: Delivery) => ({
  id,
  eventId,
  status,
  createdAt: createdAt.toISOString(),
  attempts: attempts.map(withoutAnswer),
})

const named = (headers: readonly [string, string][]) => headers.map(([name, value]) => ({ name, value }))

export const presentDetails = (delivery: Delivery, request: DeliveryRequest) => ({
  ...presentDelivery(delivery),
  request: { ...request, headers: named(request.headers) },
  attempts: delivery.attempts.map(({ answer, ...attempt }) => ({
    ...attempt,
    ...(answer ? { answer: { ...answer, headers: named(answer.headers) } } : {}),
  })),
})
