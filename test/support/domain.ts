import type { Zone } from './dns.ts'

/** Address of a domain's own mail server, for mail that a gateway hands over. */
export const MAIL_SERVER = '192.0.2.25'

/** Returns records that authorize this machine and MAIL_SERVER, and nothing else, to send mail for the domain. */
export const proves = (domain: string): Zone => ({
  [domain]: { TXT: [`v=spf1 ip4:127.0.0.1 ip4:${MAIL_SERVER} -all`] },
  [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
