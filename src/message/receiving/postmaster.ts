import { createHash } from 'node:crypto'
import type { SystemMailer } from '../../channel/system-mailer.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Led, Routine } from '../../core/routine.ts'
import type { Db } from '../../db/client.ts'
import { SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import type { RateLimits } from '../../workspace/index.ts'

export interface PostmasterDeps extends Db {
  clock: Clock
  log: Logger
  rates: RateLimits
  mailer: Pick<SystemMailer, 'deliver'>
}

/** Maximum number of mails accepted per minute from one source, so that nobody uses up what others may send. @limit Receiving */
const MAX_MAILS_A_MINUTE = 5
/** Maximum number of mails forwarded per minute: a flood of mail to the postmaster does not flood a person. */
const MAX_FORWARDED_A_MINUTE = 10
/** Maximum number of mails that wait to be forwarded. */
const MAX_WAITING = 1_000
const MAX_TEXT = 20_000
const EVERY_MS = 1_000
/** Time until a mail is tried again, by this process or another: it doubles with each attempt. */
const RETRY_MS = 60_000
const MAX_RETRY_MS = 3_600_000

/** The network that a mail came from; through a gateway of the operator, the domain of its sender if that is proven. */
const sourceKeyOf = ({ source, proven, from }: Inbound): string =>
  source ?? (proven ? from.address.slice(from.address.lastIndexOf('@') + 1) : 'unknown')

/**
 * Accepts mail for the postmaster, which is forwarded to the owner of the first workspace, who runs the service.
 * Resolves once it is stored; throws `unavailable` over the rate limit, so that it is sent again. Automatic mail
 * is only logged: if the forwarded mail bounced, the bounce would arrive here again.
 */
export const acceptForPostmaster = async (deps: PostmasterDeps, message: Inbound): Promise<void> => {
  const { prisma, log, clock } = deps
  const { automatic, raw } = message
  log.info({ event: 'postmaster', from: message.from.address, automatic }, 'mail received for the postmaster')
  if (automatic !== null) return
  const digest = Uint8Array.from(
    createHash('sha256')
      .update(raw ?? message.text)
      .digest(),
  )
  if ((await prisma.postmasterMail.count({ where: { digest } })) > 0) return
  const quota = deps.rates.take(`postmaster:${sourceKeyOf(message)}`, MAX_MAILS_A_MINUTE)
  if (!quota.allowed || (await prisma.postmasterMail.count()) >= MAX_WAITING)
    throw new AppError('unavailable', 'Too much mail for the postmaster at once, try again later', {
      retryAfter: quota.resetSeconds,
    })
  const subject = `For the postmaster: ${message.subject ?? 'no subject'}`.slice(0, 240)
  const mail = { digest, subject, text: letterOf(message), dueAt: clock.now() }
  await prisma.postmasterMail.createMany({ data: mail, skipDuplicates: true })
}

const letterOf = ({ from, proven, text }: Inbound): string =>
  `Mail arrived for the postmaster of your Agent Messaging Service.
Reply to the sender's address, not to this mail.

From: ${from.address || 'nobody'} (${proven ? 'verified' : 'not verified'})

${text.slice(0, MAX_TEXT)}
`

interface Due {
  digest: Buffer
  subject: string
  text: string
}

/** Takes one mail that is due, so that no other process forwards it at the same time. */
const claim = async ({ pool, clock }: PostmasterDeps): Promise<Due | undefined> => {
  const { rows } = await pool.query<Due>({
    name: 'claim postmaster mail',
    ...composedOf(sql`update postmaster_mail set attempts = attempts + 1,
                  due_at = $1::timestamptz + least(${RETRY_MS} * 2 ^ least(attempts, 9), ${MAX_RETRY_MS}) * interval '1 ms'
            where digest = (select digest from postmaster_mail where due_at <= $1 order by due_at limit 1 ${SKIP_LOCKED})
           returning digest, subject, text`),
    values: [clock.now()],
  })
  return rows[0]
}

const forwardDue = async (deps: PostmasterDeps, signal: AbortSignal): Promise<void> => {
  const { prisma, log, mailer, rates } = deps
  const isWithin = (amount: number) =>
    rates.takeAll([{ key: 'postmaster forwarded', limit: MAX_FORWARDED_A_MINUTE - 1 + amount, amount }]) ===
    null
  while (!signal.aborted && isWithin(0)) {
    const due = await claim(deps)
    if (due === undefined) return
    isWithin(1)
    const owner = await prisma.member.findFirst({
      where: { role: 'owner' },
      orderBy: [{ workspace: { createdAt: 'asc' } }, { createdAt: 'asc' }],
      select: { email: true },
    })
    const { digest, ...mail } = due
    const isDone =
      owner !== null &&
      (await mailer.deliver([owner.email], mail).catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'could not forward mail for the postmaster; retrying')
        return false
      }))
    if (isDone) await prisma.postmasterMail.deleteMany({ where: { digest: Uint8Array.from(digest) } })
  }
}

/** Forwards the mail for the postmaster, each until it has been taken or refused for good. */
export const createPostmaster = (deps: PostmasterDeps & Led): Routine =>
  new Routine((signal) => forwardDue(deps, signal), {
    everyMs: EVERY_MS,
    failed: 'could not forward mail for the postmaster; retrying',
    clock: deps.clock,
    log: deps.log,
    isOurs: deps.isOurs,
  })
