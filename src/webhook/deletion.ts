import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { WebhookKind } from '../db/generated/prisma/enums.ts'
import { changeUsage, noteChange } from '../workspace/index.ts'

/** Time in milliseconds that a deletion may take in all, and wait for a connection. */
const DELETION = { timeout: 30_000, maxWait: 5_000 }

/**
 * Deletes a webhook with its jobs, and locks its agent's log meanwhile: the job of an event that is stored
 * before is deleted too, and an event that is stored after gets no job. With an owner, deletes only while
 * that worker holds the lane. `also` is part of the transaction. Returns whether the webhook was deleted.
 */
export const deleteWebhook = (
  { prisma }: Db,
  { id, agentId }: { id: string; agentId: string },
  owner: string | null = null,
  also: (tx: Prisma.TransactionClient) => Promise<void> = async () => undefined,
): Promise<boolean> =>
  prisma.$transaction(async (tx) => {
    await tx.$executeRaw`select 1 from event_log where agent_id = ${agentId}::uuid for update`
    const [deleted] = await tx.$queryRaw<{ workspaceId: string; kind: WebhookKind }[]>`
      delete from webhook
       where id = ${id}::uuid and agent_id = ${agentId}::uuid and (${owner}::uuid is null or lease_owner = ${owner}::uuid)
      returning workspace_id as "workspaceId", kind`
    if (!deleted) return false
    await tx.$executeRaw`delete from job where agent_id = ${agentId}::uuid and lane = ${id}::uuid`
    const { workspaceId, kind } = deleted
    if (kind === 'webhook') await changeUsage(tx, { agentId, workspaceId, webhooks: -1 })
    const told = kind === 'webhook' ? 'webhook' : 'listener'
    await noteChange(tx, { workspaceId, kind: told, agentId, ids: [id] })
    await also(tx)
    return true
  }, DELETION)
