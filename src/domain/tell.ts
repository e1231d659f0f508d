import type { Domain } from '../db/generated/prisma/client.ts'
import type { Mailer } from '../workspace/invitation.ts'
import type { DomainDeps, StoredFinding } from './domain.ts'

export interface TellDeps extends Pick<DomainDeps, 'prisma'> {
  mailer: Pick<Mailer, 'send'>
}

const linesOf = ({ findings }: Domain): string =>
  (findings as unknown as StoredFinding[])
    .filter(({ problem }) => problem !== null)
    .map(({ purpose, name, problem }) => `- ${purpose} (${name}): ${problem}`)
    .join('\n')

const reasonOf = (domain: Domain, lost: boolean): string =>
  lost
    ? `Another workspace has proven that ${domain.name} is theirs, and your record is gone.`
    : `These records of ${domain.name} are not as they should be:\n\n${linesOf(domain)}`

/** Tells the owners of a broken domain's workspace, each in a letter of their own; `lost`: another workspace has it now. */
export const tellOwners = async ({ prisma, mailer }: TellDeps, domain: Domain, { lost }: { lost: boolean }): Promise<void> => {
  const owners = await prisma.member.findMany({ where: { workspaceId: domain.workspaceId, role: 'owner' }, select: { email: true } })
  const subject = lost ? `${domain.name} belongs to another workspace now` : `${domain.name}: its DNS records are not as they should be`
  const effect = lost
    ? 'What agents had on it is theirs no longer: mail to it does not reach them. Those that had nothing else got an address of the service.'
    : `Mail to ${domain.name} may not arrive, mail from it may not be believed, and no new address can be on it.`
  const text = `${reasonOf(domain, lost)}

${effect}

GET /domains/${domain.id} shows the records as they should be. They are looked at every day; POST /domains/${domain.id}/verify does it at once.
`
  for (const { email } of owners) mailer.send({ to: email, subject, text })
}
