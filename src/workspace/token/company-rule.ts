import { domainOf } from '../../core/address/email-address.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'

/** Who has no way to sign in but the account of their company, and what proves too little of members. */

/** The domain of an email address `e`, as `domains` has them. */
const domainIn = (e: string): string => `substring(${e} from '@([^@]*)$')`

/** Whether a member `m` (its SQL alias) can sign in with the company's provider only. */
const isBound = (m: string): string =>
  `exists (select from company_sign_in c where c.workspace_id = ${m}.workspace_id and c.required
                                           and ${domainIn(`${m}.email`)} = any(c.domains))`

/** Whether a member `m` who is bound so has signed in otherwise. `way` is the expression of how: owners keep the operator's link. */
export const isElsewhere = (m: string, way: string): string =>
  `(coalesce(${way}, '') <> 'company' and not (${m}.role = 'owner' and coalesce(${way}, '') = 'link') and ${isBound(m)})`

/**
 * Whether a member `m` has signed in in another way than their workspace `w` requires by now. Who has no way but the company's account
 * needs no passkey.
 */
export const isWrongWay = (m: string, w: string, way: string): string =>
  `(${isElsewhere(m, way)} or (${w}.require_passkeys and coalesce(${way}, '') not in ('passkey', 'company') and not ${isBound(m)}))`

/** Whether a person with this address can become, or be, a member only by signing in with the company's provider. */
export const needsCompany = async (
  { companySignIn }: Pick<Prisma.TransactionClient, 'companySignIn'>,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<boolean> => {
  const where = { workspaceId, required: true, domains: { has: domainOf(email) } }
  return (await companySignIn.count({ where })) > 0
}

/** Whether links in mails and answers in chats prove too little of a member: they must sign in to decide something. */
export const mustSignIn = async (
  { prisma }: Pick<Db, 'prisma'>,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<boolean> => {
  const where = { id: workspaceId }
  const workspace = await prisma.workspace.findUnique({ where, select: { requirePasskeys: true } })
  return workspace?.requirePasskeys === true || needsCompany(prisma, { workspaceId, email })
}
