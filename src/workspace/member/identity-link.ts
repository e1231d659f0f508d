import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'
import type { Member, MemberIdentity } from '../../db/generated/prisma/client.ts'
import { audit } from '../change/audit.ts'
import { hashToken, newToken } from '../token/token.ts'
import { takeIdentity } from './identity.ts'

/** The part of the database that one transaction needs. */
interface Within {
  prisma: Pick<
    Db['prisma'],
    '$queryRaw' | 'identityLink' | '$executeRaw' | 'member' | 'memberIdentity' | 'auditEntry'
  >
  clock: Clock
}

/** Account that sent a code, and its channel. */
type Account = Pick<MemberIdentity, 'channel' | 'value'>

/** Time for which a link is valid that proves an identity. @limit Signing in */
const VALID_MS = 3_600_000

/** A code counts only at the address that its link opens, so the holder of another bot's token learns nothing useful. */
const hashOf = (code: string, address: string) => Uint8Array.from(hashToken(`${code} ${address}`))

/**
 * Creates a code for a member: an account that sends it to this address is proven to be theirs. It works once, for an
 * hour; only its hash is stored.
 */
export const newIdentityLink = async (
  { prisma, clock }: Within,
  { memberId, agentId, address }: { memberId: string; agentId: string | null; address: string },
): Promise<{ code: string; expiresAt: Date }> => {
  const now = clock.now()
  const code = newToken('identity')
  const expiresAt = new Date(now.getTime() + VALID_MS)
  await prisma.identityLink.deleteMany({ where: { memberId, expiresAt: { lte: now } } })
  await prisma.identityLink.create({
    data: { codeHash: hashOf(code, address), memberId, agentId, expiresAt },
  })
  return { code, expiresAt }
}

/**
 * Redeems a code: assigns the sender's account to the member, and removes it from any other member of the
 * workspace. Returns null for a code that is not for this address or no longer valid. The same account may
 * send it again.
 */
export const redeemIdentityLink = async (
  { clock, ...db }: Db & { clock: Clock },
  { workspaceId, value: to }: { workspaceId: string; value: string },
  code: string,
  account: Account,
): Promise<{ member: Member; agentId: string | null } | null> => {
  const codeHash = hashOf(code, to)
  const { value } = account
  return db.prisma.$transaction(async (prisma) => {
    const where = {
      codeHash,
      expiresAt: { gt: clock.now() },
      member: { workspaceId },
      OR: [{ usedBy: null }, { usedBy: value }],
    }
    const { count } = await prisma.identityLink.updateMany({ where, data: { usedBy: value } })
    if (count === 0) return null
    const { member, agentId } = await prisma.identityLink.findUniqueOrThrow({
      where: { codeHash },
      include: { member: true },
    })
    await claim({ prisma, clock }, member, account)
    return { member, agentId }
  })
}

const claim = async (
  { prisma, clock }: Within,
  { id, workspaceId }: Member,
  identity: Account,
): Promise<void> => {
  if (await prisma.memberIdentity.findFirst({ where: { ...identity, memberId: id } })) return
  await takeIdentity(prisma, { ...identity, workspaceId, memberId: id, verifiedAt: clock.now() })
  const actor = { workspaceId, kind: 'member', id, tokenId: null } as const
  await audit({ prisma, clock }, actor, { action: 'identity.verify', agentId: null, detail: { ...identity } })
}
