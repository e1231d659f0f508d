import type { Db } from '../db/client.ts'
import { jsonLines } from './json.ts'
import type { ArchiveFile } from './tar.ts'

/** Rows of a file: a note may have 10,000 characters. */
const PAGE = 1_000

async function* pagesOf<Row>(
  name: string,
  read: (last: Row | undefined) => Promise<Row[]>,
  present: (row: Row) => object,
): AsyncGenerator<ArchiveFile> {
  let last: Row | undefined
  for (let number = 1; ; number++) {
    const rows = await read(last)
    last = rows.at(-1)
    if (last === undefined) return
    const path = `${name}-${String(number).padStart(6, '0')}.jsonl`
    yield { path, content: jsonLines(rows.map(present)) }
  }
}

/** Yields which threads of an agent were done, postponed or assigned. */
export const stateFiles = ({ prisma }: Db, agentId: string): AsyncGenerator<ArchiveFile> =>
  pagesOf(
    'threads',
    (last?: Awaited<ReturnType<typeof prisma.threadState.findMany>>[number]) =>
      prisma.threadState.findMany({
        where: { agentId, ...(last && { threadId: { gt: last.threadId } }) },
        orderBy: { threadId: 'asc' },
        take: PAGE,
      }),
    ({ threadId, doneAt, snoozedUntil, assignedTo }) => ({ threadId, doneAt, snoozedUntil, assignedTo }),
  )

/** Yields what members noted on the threads of an agent. */
export const noteFiles = ({ prisma }: Db, agentId: string): AsyncGenerator<ArchiveFile> =>
  pagesOf(
    'notes',
    (last?: Awaited<ReturnType<typeof prisma.threadNote.findMany>>[number]) =>
      prisma.threadNote.findMany({
        where: {
          agentId,
          ...(last && {
            OR: [{ threadId: { gt: last.threadId } }, { threadId: last.threadId, id: { gt: last.id } }],
          }),
        },
        orderBy: [{ threadId: 'asc' }, { id: 'asc' }],
        take: PAGE,
      }),
    ({ agentId: _, ...note }) => note,
  )
