import { present } from '../api/resource.ts'
import { Domain } from '../api/workspace/domain.ts'
import { Member } from '../api/workspace/member.ts'
import { PhoneNumber } from '../api/workspace/phone-number.ts'
import type { Clock } from '../core/clock.ts'
import { presentAudit, presentWorkspace, readWorkspace } from '../workspace/index.ts'
import { agentFiles } from './agent-files.ts'
import { json, jsonLines } from './json.ts'
import type { FileDeps } from './message-files.ts'
import type { ArchiveFile } from './tar.ts'

type Deps = FileDeps & { clock: Clock; publicUrl(): string }

const PAGE = 1_000

/** Yields pages of rows in the order of their ids. */
async function* pages<Row extends { id: string }>(
  read: (after: string | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: string | undefined; ; ) {
    const rows = await read(after)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    after = rows.at(-1)!.id
  }
}

const following = (workspaceId: string, after: string | undefined) => ({
  where: { workspaceId, ...(after === undefined ? {} : { id: { gt: after } }) },
  orderBy: { id: 'asc' as const },
  take: PAGE,
})

const settingsOf = async (deps: Deps, workspaceId: string): Promise<ArchiveFile[]> => {
  const where = { workspaceId }
  const { prisma } = deps
  const [workspace, members, domains, numbers] = await Promise.all([
    readWorkspace(deps, { workspaceId }),
    prisma.member.findMany({ where, orderBy: { createdAt: 'asc' } }),
    prisma.domain.findMany({ where, orderBy: { createdAt: 'asc' } }),
    prisma.phoneNumber.findMany({ where, orderBy: { value: 'asc' } }),
  ])
  return [
    { path: 'workspace.json', content: json(presentWorkspace(workspace)) },
    { path: 'members.jsonl', content: jsonLines(members.map((row) => present(Member, row))) },
    { path: 'domains.jsonl', content: jsonLines(domains.map((row) => present(Domain, row))) },
    { path: 'phone-numbers.jsonl', content: jsonLines(numbers.map((row) => present(PhoneNumber, row))) },
  ].filter(({ content }) => content.length > 0)
}

/** Yields everything of a workspace. */
export async function* workspaceFiles(deps: Deps, workspaceId: string): AsyncGenerator<ArchiveFile> {
  const { prisma } = deps
  yield* await settingsOf(deps, workspaceId)
  let count = 0
  for await (const entries of pages((after) => prisma.auditEntry.findMany(following(workspaceId, after))))
    yield {
      path: `audit-${String(++count).padStart(6, '0')}.jsonl`,
      content: jsonLines(entries.map(presentAudit)),
    }
  for await (const agents of pages((after) => prisma.agent.findMany(following(workspaceId, after))))
    for (const agent of agents)
      for await (const file of agentFiles(deps, agent, { forMember: true }))
        yield { ...file, path: `agents/${agent.id}/${file.path}` }
}
