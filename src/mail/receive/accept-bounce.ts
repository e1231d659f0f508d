import type { Sink } from '../../core/channel/inbound.ts'
import type { Logger } from '../../core/logger.ts'
import type { Report } from '../bounce/report.ts'
import type { ReturnAddress, ReturnPaths } from '../bounce/return-path.ts'
import { isRoleAddress } from './role-addresses.ts'

export interface AcceptBounceDeps {
  sink: Pick<Sink, 'bounced'>
  returnPaths: ReturnPaths | null
  mailDomain: string
  log: Logger
}

/** The recipients of a mail, grouped by whether mail to them can report on messages that we sent. */
export interface BounceRecipients {
  /** Return paths. */
  paths: string[]
  /** All other recipients, including the postmaster. */
  others: string[]
  /** The postmaster's addresses, to which providers' feedback loops send complaints. */
  roleAddresses: string[]
  mayBeReport: boolean
}

export function bounceRecipientsOf(
  recipients: readonly string[],
  { returnPaths, mailDomain }: Omit<AcceptBounceDeps, 'sink' | 'log'>,
): BounceRecipients {
  const others = recipients.filter((recipient) => (returnPaths?.read(recipient) ?? null) === null)
  const paths = recipients.filter((recipient) => !others.includes(recipient))
  const roleAddresses = others.filter((recipient) => isRoleAddress(recipient, mailDomain))
  return { paths, others, roleAddresses, mayBeReport: paths.length > 0 || roleAddresses.length > 0 }
}

/**
 * Passes the report in a mail to return paths on to the sink, and resolves with the recipients that should
 * still receive the mail. Mail to a return path is never delivered to an agent: anything but a bounce or a
 * complaint (a delay notice, an out-of-office reply) is dropped. A complaint may also be sent to the
 * postmaster; it then names the return path itself. A report applies only to the recipients of those return
 * paths, whatever recipients it names.
 */
export async function acceptBounce(
  report: Report | null,
  to: BounceRecipients,
  deps: AcceptBounceDeps,
): Promise<string[]> {
  const { paths, others, roleAddresses } = to
  const read = (address: string) => deps.returnPaths?.read(address) ?? null
  const reportedPath = roleAddresses.length > 0 ? (report?.reversePath ?? '') : ''
  const isOurs = read(reportedPath) !== null
  const returnAddresses = [...new Set(isOurs ? [...paths, reportedPath] : paths)].flatMap(
    (path) => read(path) ?? [],
  )
  await forwardReport(returnAddresses, report, deps)
  return isOurs ? others.filter((recipient) => !roleAddresses.includes(recipient)) : others
}

async function forwardReport(
  returnAddresses: readonly ReturnAddress[],
  report: Report | null,
  { sink, log }: AcceptBounceDeps,
): Promise<void> {
  if (returnAddresses.length === 0) return
  log.info({ messages: returnAddresses, kind: report?.kind ?? 'other' }, 'mail received at a return path')
  if (report === null) return
  const { reversePath: _, ...bounce } = report
  for (const { messageId, recipient } of returnAddresses)
    await sink.bounced({ channel: 'email', messageId, recipient, ...bounce })
}
