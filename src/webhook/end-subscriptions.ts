import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Ending } from '../workspace/token.ts'

/**
 * Ends the MCP subscriptions of an agent or of tokens that are about to be deleted, inside the transaction
 * that deletes them, and notes that their receivers are to be told. The tokens are locked until it ends: a
 * subscription that is being made with one of them comes before, or finds it gone. One whose time is over
 * ends without a word.
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
