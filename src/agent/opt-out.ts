import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'

/** Two normalized numbers: ours, and that of the person who texted a keyword to it. */
interface Pair {
  ours: string
  theirs: string
}

/**
 * Stores an opt-out for STOP and deletes it for START; HELP changes nothing. The opt-out outlives the agent,
 * as the law requires: it also binds the next agent with the number.
 */
export const noteKeyword = async (
  { prisma, clock }: Db & { clock: Clock },
  { ours, theirs, means, word }: Pair & { means: 'stop' | 'start' | 'help'; word: string },
): Promise<void> => {
  if (means === 'start') await prisma.optOut.deleteMany({ where: { ours, theirs } })
  if (means === 'stop')
    await prisma.optOut.createMany({
      data: { ours, theirs, keyword: word, createdAt: clock.now() },
      skipDuplicates: true,
    })
}

/** Returns which of these numbers have opted out of messages from ours. */
export const findOptOuts = async (
  { prisma }: Db,
  ours: string,
  theirs: readonly string[],
): Promise<Set<string>> => {
  const rows = await prisma.optOut.findMany({
    where: { ours, theirs: { in: [...theirs] } },
    select: { theirs: true },
  })
  return new Set(rows.map((row) => row.theirs))
}

/** Returns whether any of these pairs has an opt-out. */
export const isOptedOut = async ({ prisma }: Db, pairs: readonly Pair[]): Promise<boolean> =>
  (await prisma.optOut.count({ where: { OR: [...pairs] } })) > 0
