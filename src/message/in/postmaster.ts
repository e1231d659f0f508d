import type { Inbound } from '../../channel/channel.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'

export interface PostmasterDeps extends Db {
  log: Logger
  rates: RateLimits
  mailer: { send(letter: { to: string; subject: string; text: string }): void }
}

/**
 * So many letters a minute of proven senders go on, and as many of others; the rest is in the log, so that a
 * flood to the postmaster is none to a person.
 */
const LETTERS_A_MINUTE = 5
const MAX_TEXT = 20_000

/**
 * Passes mail for the postmaster on to the owner of the first workspace, who runs the service. What a machine
 * sent, or too much at once, is only logged: a bounce of the letter would come back here. Kept nowhere.
 */
export const passToOwner = async (
  { prisma, log, rates, mailer }: PostmasterDeps,
  message: Inbound,
): Promise<void> => {
  const passed =
    message.automatic === null &&
    rates.take(message.proven ? 'postmaster' : 'postmaster:unproven', LETTERS_A_MINUTE).allowed
  log.info(
    { event: 'postmaster', from: message.from.address, automatic: message.automatic, passed },
    'mail for the postmaster',
  )
  if (!passed) return
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
  `Somebody wrote to the postmaster of your Agent Messaging Service. Answer them at their own address, not here.

From: ${from.address || 'nobody'} (${proven ? 'verified' : 'not verified'})

${text.slice(0, MAX_TEXT)}
`
