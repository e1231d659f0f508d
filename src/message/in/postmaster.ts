import type { Inbound } from '../../channel/inbound.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'

export interface PostmasterDeps extends Db {
  log: Logger
  rates: RateLimits
  mailer: { send(mail: { to: string; subject: string; text: string }): void }
}

/**
 * Maximum number of mails forwarded per minute from verified senders, and as many from others. The rest is
 * only logged, so that a flood of mail to the postmaster does not flood a person.
 */
const MAX_MAILS_A_MINUTE = 5
const MAX_TEXT = 20_000

/**
 * Forwards mail for the postmaster to the owner of the first workspace, who runs the service. Automatic mail
 * and mail over the rate limit is only logged: if the forwarded mail bounced, the bounce would arrive here
 * again. Nothing is stored.
 */
export const passToOwner = async (
  { prisma, log, rates, mailer }: PostmasterDeps,
  message: Inbound,
): Promise<void> => {
  const forwarded =
    message.automatic === null &&
    rates.take(message.proven ? 'postmaster' : 'postmaster:unproven', MAX_MAILS_A_MINUTE).allowed
  log.info(
    { event: 'postmaster', from: message.from.address, automatic: message.automatic, forwarded },
    'mail received for the postmaster',
  )
  if (!forwarded) return
  const owner = await prisma.member.findFirst({
    where: { role: 'owner' },
    orderBy: [{ workspace: { createdAt: 'asc' } }, { createdAt: 'asc' }],
    select: { email: true },
  })
  if (owner)
    mailer.send({
      to: owner.email,
      subject: `For the postmaster: ${message.subject ?? 'no subject'}`.slice(0, 240),
      text: letterOf(message),
    })
}

const letterOf = ({ from, proven, text }: Inbound): string =>
  `Mail arrived for the postmaster of your Agent Messaging Service.
Reply to the sender's address, not to this mail.

From: ${from.address || 'nobody'} (${proven ? 'verified' : 'not verified'})

${text.slice(0, MAX_TEXT)}
`
