import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Domain } from '../db/generated/prisma/client.ts'
import { notifyOwners } from './tell.ts'
import { checkDomain, type VerifyDeps } from './verify.ts'

export interface RecheckDeps extends VerifyDeps {
  log: Logger
}

/** Domains that are looked at together. */
const AT_ONCE = 20
/** Longer than a check takes: after that another process may look at what a killed one left. */
const LEASE_MS = 5 * 60_000

/** Takes domains whose time has come, so that no other process looks at them too. */
const claim = async ({ prisma, clock }: RecheckDeps): Promise<Domain[]> => {
  const now = clock.now()
  const leased = new Date(now.getTime() + LEASE_MS)
  const taken = await prisma.$queryRaw<{ id: string }[]>`
    update domain set recheck_at = ${leased}
     where id in (select id from domain where recheck_at <= ${now} order by recheck_at limit ${AT_ONCE} for update skip locked)
    returning id`
  return prisma.domain.findMany({ where: { id: { in: taken.map(({ id }) => id) } } })
}

const recheck = async (deps: RecheckDeps, domain: Domain, signal: AbortSignal): Promise<void> => {
  try {
    const { before, after } = await checkDomain(deps, domain, signal)
    const fields = { domainId: after.id, workspaceId: after.workspaceId, from: before.state, to: after.state }
    if (before.state !== after.state) deps.log.info(fields, 'a domain changed its state')
    if (before.state === 'verified' && after.state === 'broken')
      await notifyOwners(deps, after, { lost: false })
  } catch (error) {
    deps.log.warn(
      { domainId: domain.id, error: messageOf(error) },
      'a domain could not be rechecked; tried again later',
    )
  }
}

/**
 * Looks at the records of every domain whose time has come (a day after its last check), and tells owners of
 * what broke. Any process may call it at any time: each domain is looked at once. Rejects only when the
 * database is away.
 */
export const recheckDomains = async (deps: RecheckDeps, signal: AbortSignal): Promise<number> => {
  let checked = 0
  for (;;) {
    const due = signal.aborted ? [] : await claim(deps)
    await Promise.all(due.map((domain) => recheck(deps, domain, signal)))
    checked += due.length
    if (due.length < AT_ONCE) return checked
  }
}
