import { invalidInput } from '../core/errors.ts'
import { MAX_METADATA_KEYS } from '../core/rules.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

/** What programs keep with an agent: texts by their keys. */
export type Metadata = Readonly<Record<string, string>>
/** Null removes a key; keys that are left out keep their values. */
export type MetadataChanges = Readonly<Record<string, string | null>>

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
