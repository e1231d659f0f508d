import type { Zone } from './dns.ts'

/** Returns records that authorize this machine, and nothing else, to send mail for the domain. */
export const proves = (domain: string): Zone => ({
  [domain]: { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
