import type { PublishedKey } from './dkim.ts'

/**
 * Purpose of a record. The first three verify a domain; receivers check the others before they trust its
 * mail.
 */
export type Purpose = 'ownership' | 'mx' | 'dkim' | 'spf' | 'dmarc'

/** A DNS record that a domain should have. */
export interface WantedRecord {
  purpose: Purpose
  type: 'MX' | 'TXT'
  name: string
  value: string
  /** Priority of an MX record; null for others. */
  priority: number | null
  /** Whether the domain's state depends on it; otherwise it is recommended. */
  required: boolean
}

/** The service's mail domain and host. */
export interface MailPlace {
  mailDomain: string
  /** Host that MX records point at. */
  mailHost: string
}

interface Subject {
  name: string
  ownershipToken: string
}

const txt = (purpose: Purpose, name: string, value: string, required: boolean): WantedRecord => ({
  purpose,
  type: 'TXT',
  name,
  value,
  priority: null,
  required,
})

/**
 * Returns the records of a domain. Required: ownership (TXT), mail routed here (MX), and signed mail (DKIM,
 * one record for each RSA key). Recommended: an Ed25519 key (DKIM, RFC 8463), which servers may send for it (SPF), and what receivers should do
 * with other mail (DMARC).
 */
export const wantedRecords = (
  { name, ownershipToken }: Subject,
  keys: readonly PublishedKey[],
  { mailDomain, mailHost }: MailPlace,
): WantedRecord[] => [
  txt('ownership', `_agent-messaging.${name}`, `agent-messaging=${ownershipToken}`, true),
  { purpose: 'mx', type: 'MX', name, value: mailHost, priority: 10, required: true },
  ...keys.map(({ algorithm, record, retiredAt }) =>
    txt('dkim', record.name, record.value, algorithm === 'rsa' && retiredAt === null),
  ),
  txt('spf', name, `v=spf1 include:${mailDomain} ~all`, false),
  txt('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none', false),
]
