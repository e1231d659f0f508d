import type { Message, Prisma } from '../../db/generated/prisma/client.ts'

/** Formats the failure reasons of recipients as the message's `error`. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

type MessageKey = Pick<Message, 'id' | 'agentId'>

/**
 * Serializes updates of one message's recipients: otherwise two concurrent updates could each see the other's
 * recipient as still in progress.
 */
export const lockMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  await tx.$queryRaw`
    select 1 from message where id = ${id}::uuid and agent_id = ${agentId}::uuid for no key update`
}

/**
 * The status and error of the messages of `recipients (message_id, agent_id, address, status, detail)`: `failed`
 * when one failed, with the reasons as `errorOf` formats them; `sent` when all were sent; none while one is in
 * progress.
 */
export const conclusionsFrom = (recipients: string): string => `
    select message_id, agent_id, case when bool_or(failed) then 'failed' else 'sent' end::"MessageStatus" as status,
           string_agg(case when n > 1 then address || ': ' else '' end || coalesce(detail, 'not delivered'), '; ' order by address)
             filter (where failed) as error
      from (select *, status = 'failed' as failed, count(*) over (partition by message_id, agent_id) as n from ${recipients}) r
     group by message_id, agent_id having not bool_or(status = 'sending')`

/** Updates the messages of `concluded (message_id, agent_id, status, error)`. Never reverts a later status. */
export const CONCLUDE = `
    update message m set status = c.status, error = c.error from concluded c
     where m.id = c.message_id and m.agent_id = c.agent_id
       and (m.status in ('sending', 'sent') or m.status = 'failed' and c.status = 'failed')`

/**
 * Updates a message's status from its recipients. Must run in the transaction that has locked the message.
 */
export const concludeMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  const recipients = '(select * from recipient where message_id = $1::uuid and agent_id = $2::uuid) recipient'
  await tx.$executeRawUnsafe(`with concluded as (${conclusionsFrom(recipients)}) ${CONCLUDE}`, id, agentId)
}
