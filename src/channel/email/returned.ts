import type { Logger } from '../../core/logger.ts'
import type { Sink } from '../channel.ts'
import type { MailParser } from './parser.ts'
import { isOffice } from './postmaster.ts'
import { readReport } from './report.ts'
import type { ReturnPaths } from './return-path.ts'

export interface ReturnedDeps {
  sink: Pick<Sink, 'returned'>
  parser: MailParser
  returnPaths: ReturnPaths | null
  mailDomain: string
  log: Logger
}

/**
 * Hands on what a mail says that came to return paths, and resolves with the recipients that are none. Mail to a return path is no
 * agent's mail: what is neither a bounce nor a complaint (a notice of delay, an answer of somebody's absence) ends here. A complaint may
 * come to the postmaster too, where providers' feedback loops are told to write: then it tells the return path itself.
 */
export async function takeReturned(raw: Buffer, recipients: string[], deps: ReturnedDeps): Promise<string[]> {
  const { returnPaths, mailDomain, parser } = deps
  const found = recipients.map((recipient) => ({ recipient, messageId: returnPaths?.messageOf(recipient) ?? null }))
  const others = found.filter(({ messageId }) => messageId === null).map(({ recipient }) => recipient)
  const messageIds = found.flatMap(({ messageId }) => messageId ?? [])
  const offices = others.filter((recipient) => isOffice(recipient, mailDomain))
  if (messageIds.length === 0 && offices.length === 0) return recipients
  const report = readReport(await parser.parse(raw))
  const named = offices.length > 0 && report?.reversePath ? (returnPaths?.messageOf(report.reversePath) ?? null) : null
  await handOn([...new Set([...messageIds, ...(named === null ? [] : [named])])], report, deps)
  return named === null ? others : others.filter((recipient) => !offices.includes(recipient))
}

async function handOn(messageIds: string[], report: ReturnType<typeof readReport>, { sink, log }: ReturnedDeps): Promise<void> {
  if (messageIds.length === 0) return
  log.info({ messageIds, kind: report?.kind ?? 'other' }, 'mail came back')
  if (report === null) return
  const { reversePath: _, ...said } = report
  for (const messageId of messageIds) await sink.returned({ channel: 'email', messageId, ...said })
}
