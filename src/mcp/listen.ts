import type { Subscription } from '../agent/subscriptions.ts'
import { readableAgents } from './resources.ts'
import type { Call } from './tool.ts'

/**
 * The SDK serves `subscriptions/listen`, asking nobody: what it is asked for is cut down to what the viewer
 * may read before.
 */

interface Asked {
  params?: { notifications?: { resourceSubscriptions?: unknown } }
}

/** What the viewer may hear of what a request asks for, and the agents that it is about. */
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
 * Opens what ends the stream when its token, or one of its agents, is gone. Throws like `Subscriptions.open`.
 */
export const holdOpen = ({ deps, viewer }: Call, agentIds: readonly string[]): Promise<Subscription[]> =>
  Promise.all(
    agentIds.map((agentId) =>
      deps.subscriptions.open({
        via: 'mcp',
        agentId,
        workspaceId: viewer.workspaceId,
        tokenId: viewer.tokenId,
        tokenExpiresAt: viewer.expiresAt,
        connectionId: null,
      }),
    ),
  )
