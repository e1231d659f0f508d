import type { Logger } from '../../core/logger.ts'
import type { Sink } from '../channel.ts'
import type { MailParser } from './parser.ts'
import { readReport } from './report.ts'
import type { ReturnPaths } from './return-path.ts'

export interface ReturnedDeps {
  sink: Pick<Sink, 'returned'>
  parser: MailParser
  returnPaths: ReturnPaths | null
  log: Logger
}

/**
 * Hands on what a mail says that came to return paths, and resolves with the recipients that are none. Mail to a return path is no
 * agent's mail: what is neither a bounce nor a complaint (a notice of delay, an answer of somebody's absence) ends here.
 */
export async function takeReturned(raw: Buffer, recipients: string[], deps: ReturnedDeps): Promise<string[]> {
  const { sink, parser, returnPaths, log } = deps
  const found = recipients.map((recipient) => ({ recipient, messageId: returnPaths?.messageOf(recipient) ?? null }))
  const messageIds = found.map(({ messageId }) => messageId).filter((id) => id !== null)
  if (messageIds.length > 0) {
    const report = readReport(await parser.parse(raw))
    log.info({ messageIds, kind: report?.kind ?? 'other' }, 'mail came back')
    if (report) for (const messageId of messageIds) await sink.returned({ channel: 'email', messageId, ...report })
  }
  return found.filter(({ messageId }) => messageId === null).map(({ recipient }) => recipient)
}
