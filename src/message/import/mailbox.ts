import { findAgent } from '../../agent/index.ts'
import type { Check } from '../../core/channel/inbound.ts'
import { notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { ActorKind } from '../../db/generated/prisma/enums.ts'
import { audit, type Viewer } from '../../workspace/index.ts'
import { type ImportDeps, type ImportOptions, type ImportSummary, runImport } from './import.ts'
import type { MailEntry } from './mail.ts'
import { IMPORT_CHECK, type Mailbox } from './prepare.ts'

interface Owner {
  agentId: string
  workspaceId: string
}

const openMailbox = async ({ prisma }: Db, owner: Owner, check: Check): Promise<Mailbox> => {
  const addresses = await prisma.address.findMany({
    where: { agentId: owner.agentId, channel: 'email' },
    orderBy: [{ primary: 'desc' }, { createdAt: 'asc' }],
    select: { id: true, value: true },
  })
  return { ...owner, addresses, check }
}

/** Who imports: a viewer, or the operator. */
interface Importer {
  kind: ActorKind
  id: string | null
  tokenId: string | null
  name: string
}

const importAs = async (
  deps: ImportDeps,
  importer: Importer,
  owner: Owner,
  { entries, ...options }: ImportOptions & { entries: AsyncIterable<MailEntry> },
): Promise<ImportSummary> => {
  const detail = `imported by ${importer.name}; its sender was not verified`
  const mailbox = await openMailbox(deps, owner, { name: IMPORT_CHECK, verdict: importer.kind, detail })
  const done = ({ imported, duplicates, skippedCount }: ImportSummary) =>
    audit(
      deps,
      { ...importer, workspaceId: owner.workspaceId },
      {
        action: 'message.import',
        agentId: owner.agentId,
        detail: { imported, duplicates, skipped: skippedCount },
      },
    )
  return runImport(deps, mailbox, entries, { ...options, done })
}

/** Imports mails as a member or as the agent itself. Throws `not_found`, `forbidden` and the errors of `runImport`. */
export const importMessages = async (
  deps: ImportDeps,
  viewer: Viewer,
  agentId: string,
  { entries, ...options }: ImportOptions & { entries: AsyncIterable<MailEntry> },
): Promise<ImportSummary> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  const stillAllowed = async () => {
    await options.stillAllowed?.()
    await findAgent(deps, viewer, agentId)
  }
  const name = `the ${viewer.kind} ${viewer.name ?? viewer.email ?? viewer.id}`
  return importAs(deps, { ...viewer, name }, { agentId, workspaceId }, { ...options, entries, stillAllowed })
}

/** Imports mails as the operator. Throws `not_found` and the errors of `runImport`. */
export const importAsOperator = async (
  deps: ImportDeps,
  agentId: string,
  options: ImportOptions & { entries: AsyncIterable<MailEntry> },
): Promise<ImportSummary> => {
  const agent = await deps.prisma.agent.findUnique({ where: { id: agentId } })
  if (!agent) throw notFound('agent')
  const operator = { kind: 'operator', id: null, tokenId: null, name: 'the operator' } as const
  return importAs(deps, operator, { agentId, workspaceId: agent.workspaceId }, options)
}
