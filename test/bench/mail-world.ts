import { startDns } from '../support/dns.ts'
import type { DkimKey } from '../support/mail.ts'
import { atEnd } from './cleanup.ts'
import { type Bench, makeMany } from './machinery.ts'

/** How long DNS takes to answer for strangers' domains. */
const STRANGERS_MS = 20

/**
 * Authenticates this machine and the signatures for example.com, so that every check has a result. Other names do not
 * exist, which takes a while to find out.
 */
export const startZone = async (key: DkimKey) => {
  const zone = {
    'example.com': { TXT: ['v=spf1 ip4:127.0.0.1 -all'], A: ['127.0.0.1'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
    [key.name]: { TXT: [key.txt] },
  }
  const dns = await startDns(zone, STRANGERS_MS)
  atEnd(() => dns.stop())
  return dns.address
}

/** An agent and its address. */
export interface MailAgent {
  id: string
  address: string
}

/** Creates agents that accept mail from anyone, and list the load's many senders, each of which may send few mails a minute. */
export const createRecipients = ({ api }: Bench, count: number): Promise<MailAgent[]> =>
  makeMany(count, async (n) => {
    const { id } = (await api('POST', '/agents', { name: `Bench ${n}`, icon: 'bot' })).body
    await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: ['*@example.com'] })
    return { id, address: (await api('GET', `/agents/${id}/addresses`)).body[0].value }
  })
