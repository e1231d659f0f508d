import type { Check, SignedContent } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { type RawHeader, valuesOf } from '../header/headers.ts'
import { coverageFault } from './coverage.ts'
import type { Fault, Signature } from './dkim-signature.ts'
import type { Dmarc } from './dmarc.ts'
import type { Evidence } from './evidence.ts'
import type { Screened } from './screened-header.ts'
import { contentOf } from './signed-content.ts'
import { signedWay } from './unsubscribe.ts'

/** The conclusion from the evidence. */
export interface Judgement {
  proven: boolean
  unsettled: boolean
  checks: Check[]
  /** What the signature says that is aligned with From; null if there is none, or the message is not proven. */
  signature: SignedContent | null
}

type Result = Evidence['dkim']['results'][number]

/** A signature and the result of its verification. */
interface Verified {
  signature: Signature
  verdict: string
  /** Why the signature proves nothing; null for a valid one. */
  fault: string | null
  /** The names of the fields that it covers; none if it does not verify. */
  covered: ReadonlySet<string>
  bodyHash: string
}

const NONE: ReadonlySet<string> = new Set()

/** Judges the evidence about mail with this normalized address, at this hostname, in its From header. */
export function judge(
  evidence: Evidence,
  { signatures, faults, chainFault, body }: Screened,
  headers: readonly RawHeader[],
  { address, domain: from }: { address: string; domain: string },
): Judgement {
  const verified = signatures.map((signature, i) =>
    verifiedBy(evidence.dkim.results[i], signature, { headers, body }),
  )
  const dmarc = judgeDmarc(evidence, verified, from)
  const proven = dmarc.verdict === 'pass' || (dmarc.verdict === 'none' && dmarc.isAligned)
  const { isAligned: _, aligned, path, ...dmarcCheck } = dmarc
  // Others may send through the servers of the same domain: a mailbox there that forwards has its SPF pass, too.
  const isOnlyProof = proven && !(path !== null && evidence.spf?.mailbox === address)
  const [valid, unfit] = [true, false].map((is) => aligned.filter(({ fault }) => (fault === null) === is))
  const signers = [...valid!, ...(isOnlyProof ? unfit!.filter(({ covered }) => covered.size > 0) : [])]
  return {
    proven,
    signature: proven ? contentOf(signers, headers, isOnlyProof) : null,
    unsettled: (!proven || isOnlyProof) && mayStillPass(evidence, verified, dmarc),
    checks: [
      spfCheck(evidence, from),
      ...(verified.length + faults.length === 0
        ? [{ name: 'dkim', verdict: 'none', detail: 'not signed' }]
        : []),
      ...verified.map((one) => dkimCheck(one, alignedWords(evidence.dmarc, one.signature.domain, from))),
      ...faults.map(faultCheck),
      dmarcCheck,
      arcCheck(evidence, chainFault),
      ...(proven ? unsubscribeCheck(verified, headers, evidence.dmarc) : []),
    ],
  }
}

function verifiedBy(
  result: Result | undefined,
  signature: Signature,
  { headers, body }: { headers: readonly RawHeader[]; body: Uint8Array },
): Verified {
  const invalid = { signature, covered: NONE, bodyHash: '' }
  // mailauth has no result for a signature that it does not support.
  if (result?.signature !== signature.value)
    return { ...invalid, verdict: 'permerror', fault: 'it was not verified' }
  const { result: verdict, comment } = result.status
  if (verdict !== 'pass') return { ...invalid, verdict, fault: comment ?? weakKey(verdict) }
  const covered = coveredBy(result)
  const unfit = unsignedEnd(result) ?? keyFault(result)
  if (unfit !== null) return { ...invalid, verdict: 'policy', fault: unfit }
  const absent = signature.names.filter((name) => valuesOf(headers, name).length === 0)
  const fault = coverageFault(headers, new Set([...covered, ...absent]), body)
  return {
    signature,
    verdict: fault === null ? 'pass' : 'policy',
    fault,
    covered,
    bodyHash: result.bodyHash ?? '',
  }
}

const weakKey = (verdict: string) =>
  verdict === 'policy' ? 'its RSA key is shorter than 1,024 bits (RFC 8301 3.2)' : 'it does not verify'

const unsignedEnd = ({ status }: Result): string | null =>
  Number(status.underSized) > 0 ? `its l= leaves the last ${Number(status.underSized)} bytes unsigned` : null

/** Why the owner of the key does not mean this use of it (RFC 6376 3.6.1), apart from what mailauth refuses. */
const keyFault = ({ status }: Result): string | null => {
  if (status.testing)
    return 'its domain is testing DKIM (t=y in the key), which is treated as no signature (RFC 6376 3.6.1)'
  return status.warnings?.includes('identity-domain')
    ? 'its key is not for subdomains (t=s), but its i= is in one'
    : null
}

/** The names of the fields that were actually hashed. */
const coveredBy = (result: Result): ReadonlySet<string> =>
  new Set(
    (result.signingHeaders?.keys ?? '')
      .toLowerCase()
      .split(':')
      .map((name) => name.trim()),
  )

/**
 * Whether the message might be proven if a failed lookup succeeded: that of a record aligned with From, or of
 * the DMARC policy.
 */
function mayStillPass(
  { spf, dmarc: { alignments } }: Evidence,
  verified: readonly Verified[],
  dmarc: { verdict: string; isAligned: boolean },
): boolean {
  if (dmarc.verdict === 'temperror' && dmarc.isAligned) return true
  const unresolved = verified
    .filter(({ verdict }) => verdict === 'temperror')
    .map(({ signature }) => signature.domain)
  if (spf?.result.status.result === 'temperror') unresolved.push(spf.domain)
  return unresolved.some((domain) => (alignments.get(domain) ?? 'none') !== 'none')
}

const isAligned = ({ alignments }: Dmarc, domain: string, strict = false): boolean => {
  const alignment = alignments.get(domain)
  return alignment === 'same' || (alignment === 'organization' && !strict)
}

/** `isAligned` says whether anything that passes is aligned with From, or may be once a lookup succeeds. */
function judgeDmarc(
  { dmarc, spf }: Evidence,
  verified: readonly Verified[],
  from: string,
): Check & { isAligned: boolean; aligned: Verified[]; path: string | null } {
  const { record, strictDkim, strictSpf, alignments } = dmarc
  const aligned = verified
    .filter(({ signature }) => isAligned(dmarc, signature.domain, strictDkim))
    .toSorted((a, b) => (b.signature.signedAt ?? 0) - (a.signature.signedAt ?? 0))
  const passing = verified.filter(({ fault }) => fault === null).map(({ signature }) => signature.domain)
  const sending = spf?.result.status.result === 'pass' ? [spf.domain] : []
  const signer = aligned.find(({ fault }) => fault === null)
  const path = sending.find((domain) => isAligned(dmarc, domain, strictSpf)) ?? null
  const by = signer ? `DKIM of ${signer.signature.domain}` : path === null ? null : `SPF of ${path}`
  const open = [...(strictDkim ? [] : passing), ...(strictSpf ? [] : sending)]
  const isOpen = by === null && open.some((domain) => alignments.get(domain) === 'unknown')
  const base = { name: 'dmarc', isAligned: by !== null || isOpen, aligned, path }
  if (record === 'none')
    return {
      ...base,
      verdict: 'none',
      detail: `${from} publishes no DMARC record; ${by ?? 'nothing'} is aligned with From`,
    }
  if (record === 'unknown' || isOpen)
    return { ...base, verdict: 'temperror', detail: `the DMARC records for ${from} could not be looked up` }
  const detail = by === null ? `neither SPF nor DKIM passes for ${from}` : `${by} is aligned with From`
  return { ...base, verdict: by === null ? 'fail' : 'pass', detail: `${detail} (p=${dmarc.policy})` }
}

const alignedWords = (dmarc: Dmarc, domain: string, from: string): string => {
  if (dmarc.alignments.get(domain) === 'unknown') return `could not be compared with From ${from}`
  return isAligned(dmarc, domain) ? 'aligned with From' : `not aligned with From ${from}`
}

/**
 * Whether the sender says how to unsubscribe, in fields that a valid signature covers: anyone could have added
 * others.
 */
const unsubscribeCheck = (
  verified: readonly Verified[],
  headers: readonly RawHeader[],
  dmarc: Dmarc,
): Check[] => {
  for (const { covered, signature, fault } of verified) {
    if (fault !== null) continue
    const signer = signature.domain
    const way = signedWay(headers, covered, { signer, isAligned: isAligned(dmarc, signer) })
    if (way === null) continue
    const detail = oneLine(`the signature of ${signer} covers how to unsubscribe`, 300)
    return [{ name: 'unsubscribe', verdict: way, detail }]
  }
  return []
}

function spfCheck({ spf, dmarc }: Evidence, from: string): Check {
  if (spf === null)
    return {
      name: 'spf',
      verdict: 'none',
      detail: 'neither MAIL FROM nor HELO contains a usable domain name',
    }
  const { result: verdict, comment } = spf.result.status
  const detail =
    verdict === 'pass'
      ? `${spf.domain} ${alignedWords(dmarc, spf.domain, from)}`
      : (comment ?? 'no record').replace(/^\S+: /, '')
  return { name: 'spf', verdict, detail: oneLine(detail, 300) }
}

const dkimCheck = ({ signature: { domain }, verdict, fault }: Verified, words: string): Check => ({
  name: 'dkim',
  verdict,
  detail: oneLine(`${domain} ${fault ?? words}`, 300),
})

const faultCheck = ({ verdict, domain, reason }: Fault): Check => ({
  name: 'dkim',
  verdict,
  detail: oneLine(`${domain === '' ? 'a signature was ignored:' : domain} ${reason}`, 300),
})

function arcCheck({ arc }: Evidence, fault: string | null): Check {
  if (fault !== null) return { name: 'arc', verdict: 'fail', detail: fault }
  if (arc === null) return { name: 'arc', verdict: 'fail', detail: 'the chain can’t be read' }
  if (arc.status.result === 'none') return { name: 'arc', verdict: 'none', detail: 'no chain' }
  return {
    name: 'arc',
    verdict: arc.status.result,
    detail: oneLine(
      arc.status.comment ?? 'evidence only: a forwarder’s seal does not authenticate the sender',
      200,
    ),
  }
}
