import type { MailView } from '../../core/channel/mail-view.ts'
import { readReport } from '../bounce/read-report.ts'
import { automaticMark, hasAgentHeader } from '../header/loop.ts'
import { parseMail, salvage } from '../parse/parse.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import { type Verification, verify } from '../verify/verify.ts'
import { viewMail } from '../view/view.ts'
import { clipHeader } from './clip-header.ts'
import type { ReadMail, ReadRequest, ViewRequest, WorkerSettings } from './protocol.ts'

/** A message after the parse stage; its sender is not verified yet. */
export interface Parsed {
  /** The message that both stages use, with a header of limited size. */
  raw: Uint8Array
  clipped: string | null
  mail: ReadMail
}

/** The parse stage. Computes without waiting for I/O. Never rejects because of the content of a message. */
export async function parseStage(request: ReadRequest, { mailDomain }: WorkerSettings): Promise<Parsed> {
  const { raw, reason: clipped } = clipHeader(request.raw)
  const parsed = request.skip.includes('parse') ? salvage(raw, OVER_BUDGET) : await parseMail(raw)
  const { headers, ...mail } = parsed
  const reversePath = request.envelope?.reversePath ?? null
  return {
    raw,
    clipped,
    mail: {
      ...mail,
      verification: null,
      automatic: automaticMark(headers, reversePath, mailDomain),
      byAgent: hasAgentHeader(headers),
      report: request.mayBeReport ? readReport(parsed) : null,
    },
  }
}

const OVER_BUDGET = 'parsing exceeded the time or memory limit for one message'

/** The parse stage of a message to be shown. Never rejects because of the content of a message. */
export const viewStage = ({ raw, skip, ...options }: ViewRequest): Promise<MailView> =>
  viewMail(clipHeader(raw).raw, options, !skip.includes('parse'))

/** The verify stage. Mostly waits for DNS. Never rejects. */
export function verifyStage(
  { raw, clipped, mail }: Parsed,
  request: ReadRequest,
  resolver: DnsResolver,
  { mta }: WorkerSettings,
): Promise<Verification | null> {
  if (request.envelope === null) return Promise.resolve(null)
  if (clipped !== null) return Promise.resolve(unproven(clipped))
  if (request.skip.includes('verify'))
    return Promise.resolve(unproven('verification exceeded the time limit for one message'))
  return verify(raw, mail.from.address, request.envelope, { resolver, mta })
}

const unproven = (detail: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name: 'from', verdict: 'fail', detail }],
})
