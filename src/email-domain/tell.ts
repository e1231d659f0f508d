import type { Domain } from '../db/generated/prisma/client.ts'
import type { Mailer } from '../workspace/index.ts'
import type { DomainDeps, StoredFinding } from './domain.ts'

export interface NotifyOwnersDeps extends Pick<DomainDeps, 'prisma' | 'afterCommit'> {
  mailer: Pick<Mailer, 'send'>
}

const linesOf = ({ findings }: Domain): string =>
  (findings as unknown as StoredFinding[])
    .filter(({ problem }) => problem !== null)
    .map(({ purpose, name, problem }) => `- ${purpose} (${name}): ${problem}`)
    .join('\n')

const reasonOf = (domain: Domain, lost: boolean): string =>
  lost
    ? `Another workspace has proven ownership of ${domain.name}, and your ownership record no longer exists.`
    : `These DNS records of ${domain.name} are not correct:\n\n${linesOf(domain)}`

/**
 * Notifies the owners of a broken domain's workspace, each with a separate mail; `lost`: another workspace
 * has the domain now.
 */
export const notifyOwners = async (
  { prisma, mailer, afterCommit }: NotifyOwnersDeps,
  domain: Domain,
  { lost }: { lost: boolean },
): Promise<void> => {
  const owners = await prisma.member.findMany({
    where: { workspaceId: domain.workspaceId, role: 'owner' },
    select: { email: true },
  })
  const subject = lost
    ? `${domain.name} belongs to another workspace now`
    : `${domain.name}: its DNS records are not correct`
  const effect = lost
    ? `Your agents have lost their addresses on it and no longer receive mail to them. Agents that had no other email address got one from the service. Access
lists no longer contain these addresses; an entry like *@${domain.name} still admits senders at the domain, which now belongs to someone else.`
    : `Mail to ${domain.name} may not arrive, mail from it may be rejected or marked as spam, and no new address can be created on it.`
  const text = `${reasonOf(domain, lost)}

${effect}

GET /domains/${domain.id} shows the expected records. They are checked every day; POST /domains/${domain.id}/verify checks them now.
`
  for (const { email } of owners) afterCommit(() => mailer.send({ to: email, subject, text }))
}
