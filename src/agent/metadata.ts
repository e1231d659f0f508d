import { invalidInput } from '../core/errors.ts'
import { MAX_METADATA_KEYS, type Metadata, type MetadataChanges } from '../core/rules.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

/** Returns the metadata of an agent with the changes, having locked the agent. Throws `invalid_input` for too many keys. */
export const changedMetadata = async (
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  agentId: string,
  changes: MetadataChanges | undefined,
): Promise<{ metadata?: Metadata }> => {
  if (changes === undefined) return {}
  const [agent] = await tx.$queryRaw<{ metadata: Metadata }[]>`
    select jsonb_strip_nulls(metadata || ${JSON.stringify(changes)}::jsonb) as metadata
      from agent where id = ${agentId}::uuid for no key update`
  const { metadata } = agent!
  if (Object.keys(metadata).length > MAX_METADATA_KEYS)
    throw invalidInput('metadata', `would give the agent more than ${MAX_METADATA_KEYS} keys`)
  return { metadata }
}
