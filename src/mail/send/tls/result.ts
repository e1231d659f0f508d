import { linesOf, type StsPolicy } from './sts-policy.ts'

/** Why a connection is not as the policy demands (RFC 8460 4.3). */
export interface Failure {
  type:
    | 'starttls-not-supported'
    | 'certificate-host-mismatch'
    | 'certificate-expired'
    | 'certificate-not-trusted'
    | 'validation-failure'
    | 'sts-policy-fetch-error'
    | 'sts-policy-invalid'
    | 'sts-webpki-invalid'
  reason: string | null
}

/** The result of one connection to a server of a domain, or of reading the domain's policy. */
export interface TlsResult {
  domain: string
  policy: { type: 'sts' | 'no-policy-found'; lines: readonly string[]; mx: readonly string[] }
  /** The server, if it is about one. */
  server: { host: string; address: string } | null
  /** Null: the connection was as the policy demands. */
  failure: Failure | null
}

/** Called with each result. Must not throw. */
export type OnTlsResult = (result: TlsResult) => void

/** The policy as it is named in results. */
export const policyOf = (policy: StsPolicy | null, isSts: boolean): TlsResult['policy'] =>
  policy === null
    ? { type: isSts ? 'sts' : 'no-policy-found', lines: [], mx: [] }
    : { type: 'sts', lines: linesOf(policy), mx: policy.mx }

/** How the server was authenticated after STARTTLS. */
export interface TlsState {
  /** Code of the error, if its certificate is not valid for its name; null if it is. */
  error: string | null
}

const CERTIFICATE: Record<string, Failure['type']> = {
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-host-mismatch',
}

/** Returns why a session is not one with an authenticated server; null if it is. */
export const failureOf = (tls: TlsState | null): Failure | null => {
  if (tls === null) return { type: 'starttls-not-supported', reason: null }
  if (tls.error === null) return null
  return { type: CERTIFICATE[tls.error] ?? 'certificate-not-trusted', reason: tls.error }
}
