import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Domain } from '../db/generated/prisma/client.ts'
import { notifyOwners } from './tell.ts'
import { checkDomain, type VerifyDeps } from './verify.ts'

export interface RecheckDeps extends VerifyDeps {
  log: Logger
}

/** Number of domains that are checked together. */
const BATCH_SIZE = 20
/** Longer than a check takes. After it, another process may check a domain that a killed one had claimed. */
const LEASE_MS = 5 * 60_000

/** Claims domains that are due, so that no other process checks them too. */
const claim = async ({ prisma, clock }: RecheckDeps): Promise<Domain[]> => {
  const now = clock.now()
  const leased = new Date(now.getTime() + LEASE_MS)
  const taken = await prisma.$queryRaw<{ id: string }[]>`
    update domain set recheck_at = ${leased}
     where id in (select id from domain where recheck_at <= ${now} order by recheck_at limit ${BATCH_SIZE} for update skip locked)
    returning id`
  return prisma.domain.findMany({ where: { id: { in: taken.map(({ id }) => id) } } })
}

const recheck = async (deps: RecheckDeps, domain: Domain, signal: AbortSignal): Promise<void> => {
  try {
    const { before, after } = await checkDomain(deps, domain, signal)
    const fields = { domainId: after.id, workspaceId: after.workspaceId, from: before.state, to: after.state }
    if (before.state !== after.state) deps.log.info(fields, 'domain state changed')
    if (before.state === 'verified' && after.state === 'broken')
      await notifyOwners(deps, after, { lost: false })
  } catch (error) {
    deps.log.warn(
      { domainId: domain.id, error: messageOf(error) },
      'could not recheck domain; retrying later',
    )
  }
}

/**
 * Checks the records of every domain that is due (a day after its last check), and notifies owners of domains
 * that broke. Any process may call it at any time: each domain is checked once. Rejects only when the
 * database is unavailable.
 */
export const recheckDomains = async (deps: RecheckDeps, signal: AbortSignal): Promise<number> => {
  let checked = 0
  for (;;) {
    const due = signal.aborted ? [] : await claim(deps)
    await Promise.all(due.map((domain) => recheck(deps, domain, signal)))
    checked += due.length
    if (due.length < BATCH_SIZE) return checked
  }
}
