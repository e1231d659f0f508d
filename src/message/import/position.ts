import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'

/** Where the import of a source into an agent's mailbox continues after an interruption. */
export interface ImportPosition {
  /** Null when it begins. */
  load(): Promise<string | null>
  /** Everything up to here is committed. */
  save(position: string): Promise<void>
  /** The import is complete: the next one starts over, and skips mails that are there already. */
  clear(): Promise<void>
}

export const positionOf = (
  { prisma, clock }: Db & { clock: Clock },
  agentId: string,
  source: string,
): ImportPosition => {
  const where = { agentId_source: { agentId, source } }
  return {
    load: async () => (await prisma.importPosition.findUnique({ where }))?.position ?? null,
    save: async (position) => {
      const change = { position, updatedAt: clock.now() }
      await prisma.importPosition.upsert({ where, create: { agentId, source, ...change }, update: change })
    },
    clear: async () => {
      await prisma.importPosition.deleteMany({ where: { agentId, source } })
    },
  }
}
