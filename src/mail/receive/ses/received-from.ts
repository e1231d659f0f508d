import { isIP } from 'node:net'
import type { Envelope } from '../../verify/verify.ts'

/** SES puts its header lines first; the lines below were written by the sender. */
const MAX_SCANNED = 4096

/**
 * `Received: from helo (name [address]) by inbound-smtp.region.amazonaws.com with SMTP id …`, as the first
 * line or below a Return-Path.
 */
const BY_SES =
  /^(?:Return-Path:[^\r\n]{0,1000}\r?\n)?Received: from (\S{1,255}) \([^()[\]\r\n]{0,255}\[([0-9a-f.:]{2,45})\]\)\s{1,4}by inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?\s{1,4}with E?SMTPS?A?\s{1,4}id ([0-9a-z-]{1,100})\s/i

const UNKNOWN = { ip: '', helo: '' }

/**
 * Returns the client that submitted a mail to SES, which is the only part of the mail our SPF check relies
 * on. SES puts a Received line above everything the sender wrote, with the message id that its notification
 * contains and that nobody knows beforehand. If the first line is a different one (added by a rule or a relay
 * of the operator), or its id differs (written by the sender), no client is returned and SPF proves nothing.
 */
export const clientOf = (raw: Buffer, messageId: unknown): Pick<Envelope, 'ip' | 'helo'> => {
  const [, helo = '', ip = '', id = ''] = BY_SES.exec(raw.subarray(0, MAX_SCANNED).toString('latin1')) ?? []
  return isIP(ip) !== 0 && id === messageId ? { ip, helo } : UNKNOWN
}
