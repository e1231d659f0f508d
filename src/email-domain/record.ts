import type { PublishedKey } from './dkim.ts'

/**
 * What a record is for. A domain is verified by the first three; receivers ask for the others before they
 * trust its mail.
 */
export type Purpose = 'ownership' | 'mx' | 'dkim' | 'spf' | 'dmarc'

/** A DNS record that a domain should have. */
export interface WantedRecord {
  purpose: Purpose
  type: 'MX' | 'TXT'
  name: string
  value: string
  /** Of an MX record; null for others. */
  priority: number | null
  /** Whether the domain's state depends on it; else it is advised. */
  required: boolean
}

/** Where the service is reached by mail, and what it is called there. */
export interface MailPlace {
  mailDomain: string
  /** The host that MX records point at. */
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
 * The records of a domain: that it is the workspace's (TXT), that its mail comes here (MX), that its mail is
 * signed (DKIM, a record for each key); advised: who may send for it (SPF) and what receivers shall do with
 * the rest (DMARC).
 */
export const wantedRecords = (
  { name, ownershipToken }: Subject,
  keys: readonly PublishedKey[],
  { mailDomain, mailHost }: MailPlace,
): WantedRecord[] => [
  txt('ownership', `_agent-messaging.${name}`, `agent-messaging=${ownershipToken}`, true),
  { purpose: 'mx', type: 'MX', name, value: mailHost, priority: 10, required: true },
  ...keys.map(({ record, retiredAt }) => txt('dkim', record.name, record.value, retiredAt === null)),
  txt('spf', name, `v=spf1 include:${mailDomain} ~all`, false),
  txt('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none', false),
]
