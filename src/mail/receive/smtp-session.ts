import type { SMTPServerSession } from 'smtp-server'
import type { Origin } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { loggable } from '../bounce/return-path.ts'
import type { Envelope } from '../verify/verify.ts'

/** What all log lines of one mail have in common: a session may bring several. */
export const originOf = ({ id, transaction }: SMTPServerSession): Origin => ({ session: id, transaction })

/** What a log line says of a session. */
export const factsOf = (session: SMTPServerSession) => ({
  ...originOf(session),
  remoteAddress: session.remoteAddress,
  helo: oneLine(String(session.hostNameAppearsAs), 255),
  tls: session.secure,
  reversePath: loggable(reversePathOf(session)),
})

const reversePathOf = (session: SMTPServerSession): string =>
  session.envelope.mailFrom ? session.envelope.mailFrom.address : ''

export const envelopeOf = (session: SMTPServerSession): Envelope => ({
  ip: session.remoteAddress,
  helo: oneLine(String(session.hostNameAppearsAs), 255),
  reversePath: reversePathOf(session),
  direct: true,
})
