import type { Zone } from './dns.ts'

/** A domain that says that this machine, and nothing else, may send its mail. */
export const proves = (domain: string): Zone => ({
  [domain]: { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
