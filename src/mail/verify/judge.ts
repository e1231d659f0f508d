import type { Check, SignedContent } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { type RawHeader, valuesOf } from '../header/headers.ts'
import { coverageFault } from './coverage.ts'
import { type Fault, keyFault, type Signature } from './dkim-signature.ts'
import type { Evidence } from './evidence.ts'
import { isAligned } from './hostname.ts'
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
    unsettled: (!proven || isOnlyProof) && mayStillPass(evidence, verified, dmarc, from),
    checks: [
      spfCheck(evidence, from),
      ...(verified.length + faults.length === 0
        ? [{ name: 'dkim', verdict: 'none', detail: 'not signed' }]
        : []),
      ...verified.map((one) => dkimCheck(one, from)),
      ...faults.map(faultCheck),
      dmarcCheck,
      arcCheck(evidence, chainFault),
      ...(proven ? unsubscribeCheck(verified, headers, from) : []),
    ],
  }
}

function verifiedBy(
  result: Result | undefined,
  signature: Signature,
  { headers, body }: { headers: readonly RawHeader[]; body: Uint8Array },
): Verified {
  const invalid = { signature, covered: NONE, bodyHash: '' }
  // mailauth appends certain ARC seals to the list of signatures.
  if (result?.signature !== signature.value)
    return { ...invalid, verdict: 'permerror', fault: 'it was not verified' }
  const { result: verdict, comment } = result.status
  if (verdict !== 'pass') return { ...invalid, verdict, fault: comment ?? weakKey(verdict) }
  const covered = coveredBy(result)
  const unfit = unsignedEnd(result) ?? keyFault(result.rr ?? '', signature)
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
  { spf }: Evidence,
  verified: readonly Verified[],
  dmarc: { verdict: string; isAligned: boolean },
  from: string,
): boolean {
  if (dmarc.verdict === 'temperror' && dmarc.isAligned) return true
  const unresolved = verified
    .filter(({ verdict }) => verdict === 'temperror')
    .map(({ signature }) => signature.domain)
  if (spf?.result.status.result === 'temperror') unresolved.push(spf.domain)
  return unresolved.some((domain) => isAligned(from, domain, false))
}

function judgeDmarc(
  { dmarc, spf }: Evidence,
  verified: readonly Verified[],
  from: string,
): Check & { isAligned: boolean; aligned: Verified[]; path: string | null } {
  const record = dmarc === null || 'error' in dmarc ? null : dmarc
  const aligned = verified
    .filter(({ signature }) => isAligned(from, signature.domain, record?.strictDkim ?? false))
    .toSorted((a, b) => (b.signature.signedAt ?? 0) - (a.signature.signedAt ?? 0))
  const signer = aligned.find(({ fault }) => fault === null)
  const path =
    spf?.result.status.result === 'pass' && isAligned(from, spf.domain, record?.strictSpf ?? false)
      ? spf.domain
      : null
  const by = signer ? `DKIM of ${signer.signature.domain}` : path === null ? null : `SPF of ${path}`
  const base = { name: 'dmarc', isAligned: by !== null, aligned, path }
  if (dmarc === null)
    return {
      ...base,
      verdict: 'none',
      detail: `${from} publishes no DMARC record; ${by ?? 'nothing'} is aligned with From`,
    }
  if (record === null)
    return { ...base, verdict: 'temperror', detail: `the DMARC record of ${from} could not be looked up` }
  const detail = by === null ? `neither SPF nor DKIM passes for ${from}` : `${by} is aligned with From`
  return {
    ...base,
    verdict: by === null ? 'fail' : 'pass',
    detail: `${detail} (p=${oneLine(record.policy, 20)})`,
  }
}

const alignedWords = (from: string, domain: string) =>
  isAligned(from, domain, false) ? 'aligned with From' : `not aligned with From ${from}`

/**
 * Whether the sender says how to unsubscribe, in fields that a valid signature covers: anyone could have added
 * others.
 */
const unsubscribeCheck = (
  verified: readonly Verified[],
  headers: readonly RawHeader[],
  from: string | null,
): Check[] => {
  for (const { covered, signature, fault } of verified) {
    if (fault !== null) continue
    const way = signedWay(headers, covered, { from, signer: signature.domain })
    if (way === null) continue
    const detail = oneLine(`the signature of ${signature.domain} covers how to unsubscribe`, 300)
    return [{ name: 'unsubscribe', verdict: way, detail }]
  }
  return []
}

function spfCheck({ spf }: Evidence, from: string): Check {
  if (spf === null)
    return {
      name: 'spf',
      verdict: 'none',
      detail: 'neither MAIL FROM nor HELO contains a usable domain name',
    }
  const { result: verdict, comment } = spf.result.status
  const detail =
    verdict === 'pass'
      ? `${spf.domain} ${alignedWords(from, spf.domain)}`
      : (comment ?? 'no record').replace(/^\S+: /, '')
  return { name: 'spf', verdict, detail: oneLine(detail, 300) }
}

const dkimCheck = ({ signature: { domain }, verdict, fault }: Verified, from: string): Check => ({
  name: 'dkim',
  verdict,
  detail: oneLine(`${domain} ${fault ?? alignedWords(from, domain)}`, 300),
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
