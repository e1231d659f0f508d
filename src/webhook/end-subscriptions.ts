import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Ending } from '../workspace/index.ts'

/**
 * Deletes the MCP subscriptions of an agent or of tokens that are about to be deleted, inside the transaction
 * that deletes them, and queues termination notices to their receivers. The tokens are locked until it ends:
 * a concurrent subscription with one of them is either committed before and ended too, or finds the token
 * deleted. Subscriptions that have expired end without a notice.
 */
export const endSubscriptions = async (
  tx: Prisma.TransactionClient,
  { agentId, tokenIds }: Ending,
): Promise<void> => {
  await tx.$queryRaw`select 1 from token where id = any(${tokenIds}::uuid[]) order by id for update`
  await tx.$executeRaw`
    with ended as (
      delete from webhook where kind = 'mcp' and (agent_id = ${agentId ?? null}::uuid or token_id = any(${tokenIds}::uuid[])) returning *
    ),
    jobs as (delete from job using ended where job.agent_id = ended.agent_id and job.lane = ended.id)
    insert into webhook_farewell (id, agent_id, workspace_id, url, secret, previous_secret, previous_until, subscription)
    select id, agent_id, workspace_id, url, secret, previous_secret, previous_until, subscription
      from ended where expires_at > now()`
}
