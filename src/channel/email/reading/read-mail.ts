import { readReport } from '../bounce/report.ts'
import { automaticMark, hasAgentMark } from '../loop.ts'
import { parseMail, salvage } from '../parse/parse.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import { type Verification, verify } from '../verify/verify.ts'
import { clipHeader } from './clip-header.ts'
import type { ReadMail, ReadRequest, WorkerSettings } from './protocol.ts'

/** A message after its first stage: all of it but whether its sender is proven. */
export interface Parsed {
  /** What both stages look at: the message with its header within bounds. */
  raw: Uint8Array
  clipped: string | null
  mail: ReadMail
}

/** The first stage, which computes and waits for nothing. Never rejects for what is in the message. */
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
      byAgent: hasAgentMark(headers),
      report: request.mayBeReport ? readReport(parsed) : null,
    },
  }
}

const OVER_BUDGET = 'reading it takes more time or memory than one message may'

/** The second stage, which mostly waits for DNS. Never rejects. */
export function verifyStage(
  { raw, clipped, mail }: Parsed,
  request: ReadRequest,
  resolver: DnsResolver,
  { mta }: WorkerSettings,
): Promise<Verification | null> {
  if (request.envelope === null) return Promise.resolve(null)
  if (clipped !== null) return Promise.resolve(unproven(clipped))
  if (request.skip.includes('verify'))
    return Promise.resolve(unproven('the checks take more time than those of one message may'))
  return verify(raw, mail.from.address, request.envelope, { resolver, mta })
}

const unproven = (detail: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name: 'from', verdict: 'fail', detail }],
})
