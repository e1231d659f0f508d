import type { Logger } from '../../../core/logger.ts'
import type { Sink } from '../../channel.ts'
import { isRoleAddress } from '../receive/role-addresses.ts'
import type { Report } from './report.ts'
import type { ReturnAddress, ReturnPaths } from './return-path.ts'

export interface AcceptBounceDeps {
  sink: Pick<Sink, 'bounced'>
  returnPaths: ReturnPaths | null
  mailDomain: string
  log: Logger
}

/** A mail's recipients, by what it may report of messages of ours. */
export interface BounceRecipients {
  /** Return paths. */
  paths: string[]
  /** Everybody else, the postmaster among them. */
  others: string[]
  /** The postmaster's addresses, where providers' feedback loops are told to write. */
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
 * Hands on what a mail reports that came to return paths, and resolves with the recipients who are to have
 * it. Mail to a return path is no agent's mail: what is neither a bounce nor a complaint (a notice of delay,
 * an answer of somebody's absence) ends here. A complaint may come to the postmaster too: then it tells the
 * return path itself. What it says counts for the recipients of those paths only, whomever it names.
 */
export async function acceptBounce(
  report: Report | null,
  to: BounceRecipients,
  deps: AcceptBounceDeps,
): Promise<string[]> {
  const { paths, others, roleAddresses } = to
  const read = (address: string) => deps.returnPaths?.read(address) ?? null
  const told = roleAddresses.length > 0 ? (report?.reversePath ?? '') : ''
  const named = read(told) !== null
  const addressed = [...new Set(named ? [...paths, told] : paths)].flatMap((path) => read(path) ?? [])
  await handOn(addressed, report, deps)
  return named ? others.filter((recipient) => !roleAddresses.includes(recipient)) : others
}

async function handOn(
  addressed: readonly ReturnAddress[],
  report: Report | null,
  { sink, log }: AcceptBounceDeps,
): Promise<void> {
  if (addressed.length === 0) return
  log.info({ messages: addressed, kind: report?.kind ?? 'other' }, 'mail came back')
  if (report === null) return
  const { reversePath: _, ...said } = report
  for (const { messageId, recipient } of addressed)
    await sink.bounced({ channel: 'email', messageId, recipient, ...said })
}
