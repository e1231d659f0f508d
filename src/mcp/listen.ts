import type { Subscription, Subscriptions } from '../agent/index.ts'
import type { Call } from './call/tool.ts'
import { readableAgents } from './resources.ts'

/**
 * The SDK serves `subscriptions/listen` without checking permissions. So the request is first reduced to the
 * resources that the viewer may read.
 */

interface Asked {
  params?: { notifications?: { resourceSubscriptions?: unknown } }
}

/** The request without the resources that the viewer may not read, and the agents of the others. */
export const permitted = async (call: Call, body: object): Promise<{ body: object; agentIds: string[] }> => {
  const { params } = body as Asked
  const asked = params?.notifications?.resourceSubscriptions
  if (!Array.isArray(asked)) return { body, agentIds: [] }
  const agentIds = await readableAgents(call, asked)
  const resourceSubscriptions = asked.filter((uri) => agentIds.some((id) => uri === `inbox://${id}`))
  return {
    body: {
      ...body,
      params: { ...params, notifications: { ...params?.notifications, resourceSubscriptions } },
    },
    agentIds,
  }
}

/**
 * Opens a subscription for each agent; they end when the token or the agent is deleted. Throws like
 * `Subscriptions.open`, and then leaves none open.
 */
export const holdOpen = async (
  { deps: { subscriptions }, viewer }: Call,
  agentIds: readonly string[],
): Promise<Subscription[]> => {
  const { workspaceId, tokenId, expiresAt: tokenExpiresAt } = viewer
  const opening = agentIds.map((agentId) =>
    subscriptions.open({ via: 'mcp', agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: null }),
  )
  const results = await Promise.allSettled(opening)
  const held = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (!failed) return held
  await letGo(subscriptions, held)
  throw failed.reason
}

export const letGo = async (subscriptions: Subscriptions, held: readonly Subscription[]): Promise<void> => {
  await Promise.all(held.map((one) => subscriptions.close(one)))
}
