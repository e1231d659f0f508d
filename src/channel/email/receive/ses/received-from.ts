import { isIP } from 'node:net'
import type { Envelope } from '../../verify/verify.ts'

/** SES's own lines are the first ones; what is below them the sender wrote. */
const LOOKED_AT = 4096

/**
 * `Received: from helo (name [address]) by inbound-smtp.region.amazonaws.com with SMTP id …`, first of all or
 * below a Return-Path.
 */
const BY_SES =
  /^(?:Return-Path:[^\r\n]{0,1000}\r?\n)?Received: from (\S{1,255}) \([^()[\]\r\n]{0,255}\[([0-9a-f.:]{2,45})\]\)\s{1,4}by inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?\s{1,4}with E?SMTPS?A?\s{1,4}id ([0-9a-z-]{1,100})\s/i

const UNKNOWN = { ip: '', helo: '' }

/**
 * Who handed a mail to SES: the only thing in it that our SPF check believes. SES writes a Received above
 * everything that the sender wrote, with the id that its notification calls the mail by, and nobody knows
 * that id before SES has given it. So a mail whose first line is another one (a rule or a relay of the
 * operator's own stands between), or whose Received has another id (the sender wrote it), tells no address,
 * and SPF proves nothing.
 */
export const clientOf = (raw: Buffer, messageId: unknown): Pick<Envelope, 'ip' | 'helo'> => {
  const [, helo = '', ip = '', id = ''] = BY_SES.exec(raw.subarray(0, LOOKED_AT).toString('latin1')) ?? []
  return isIP(ip) !== 0 && id === messageId ? { ip, helo } : UNKNOWN
}
