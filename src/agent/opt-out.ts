import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'

/** Two numbers, normalized: ours and the one of a person who texted a keyword to it. */
interface Pair {
  ours: string
  theirs: string
}

/**
 * Remembers STOP, forgets it at START; HELP changes nothing. The pair outlives the agent, as the law wants:
 * whoever has the number next is bound by it.
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

/** Which of these numbers take no messages from ours. */
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

/** Whether one of these pairs takes no messages. */
export const isOptedOut = async ({ prisma }: Db, pairs: readonly Pair[]): Promise<boolean> =>
  (await prisma.optOut.count({ where: { OR: [...pairs] } })) > 0
