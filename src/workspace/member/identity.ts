import { randomInt, timingSafeEqual } from 'node:crypto'
import type { CodeChannel, IdentityChannel } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { MemberIdentity, Prisma } from '../../db/generated/prisma/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'
import { audit } from '../change/audit.ts'
import { NIL, type SealedColumn } from '../encryption/data-keys.ts'
import type { Keyring } from '../encryption/keyring.ts'
import { callExternally, type ExternalCallDeps } from '../limit/external-calls.ts'
import type { RateLimits } from '../limit/rate-limits.ts'
import type { Viewer } from '../token/viewer.ts'
import { ensureMember } from './member.ts'

/** Sends codes to addresses that members claim. */
export interface CodeSender {
  /** Normalizes an address of the channel. Throws `invalid_input`. */
  normalize(channel: Channel, value: string): string
  /**
   * Resolves once it is sent. Throws `conflict` when it cannot be sent, `unavailable` when it cannot be sent
   * now.
   */
  send(workspaceId: string, channel: Channel, value: string, text: string): Promise<void>
}

export interface IdentityDeps extends Db, ExternalCallDeps {
  clock: Clock
  keyring: Keyring
  rates: Pick<RateLimits, 'take'>
  codes: CodeSender
}

/** Time for which a code is valid that proves a phone number. @limit Signing in */
const VALID_MS = 10 * 60_000
/** Wrong attempts after which such a code is void. @limit Signing in */
const MAX_ATTEMPTS = 5
/**
 * Codes that a member may request within a minute: each costs money, and is sent to someone who may not want it.
 * @limit Signing in
 */
const CODES_A_MINUTE = 2
/** The same within a day. @limit Signing in */
const CODES_A_DAY = 10
const DAY_MS = 24 * 3_600_000

const CODE_WORDS = 'is your code for the Agent Messaging Service. It is valid for 10 minutes.'

const boundTo = (memberId: string, channel: Channel) => `identity:${memberId}:${channel}`

/** Returns the phone numbers and Telegram ids that the calling member has verified. */
export const listIdentities = async ({ prisma }: Db, viewer: Viewer): Promise<MemberIdentity[]> => {
  ensureMember(viewer)
  return prisma.memberIdentity.findMany({
    where: { memberId: viewer.id },
    orderBy: [{ channel: 'asc' }, { value: 'asc' }],
  })
}

type CountDeps = Db & Pick<IdentityDeps, 'clock' | 'rates'>

const ensureRate = async (
  { prisma, clock, rates }: CountDeps,
  { id, workspaceId }: Viewer,
): Promise<void> => {
  const { allowed, resetSeconds } = rates.take(`code:${id}`, CODES_A_MINUTE)
  if (!allowed)
    throw new AppError('rate_limited', 'Wait a minute before you request another code.', {
      retryAfter: resetSeconds,
    })
  const since = new Date(clock.now().getTime() - DAY_MS)
  const requested = await prisma.auditEntry.count({
    where: { workspaceId, actorId: id, action: 'identity.claim', createdAt: { gt: since } },
  })
  if (requested >= CODES_A_DAY)
    throw new AppError('rate_limited', `At most ${CODES_A_DAY} codes a day can be sent.`, {
      retryAfter: 3_600,
    })
}

/**
 * Sends a code to an address that the calling member claims, valid for `verifyIdentity` for 10 minutes. A
 * later code replaces an earlier one. Throws `invalid_input`, `rate_limited`, `conflict` when no code can be
 * sent, `unavailable` when none can be sent now.
 */
export const claimIdentity = async (
  deps: IdentityDeps,
  viewer: Viewer,
  input: { channel: CodeChannel; value: string },
): Promise<{ channel: CodeChannel; value: string; expiresAt: Date }> => {
  ensureMember(viewer)
  const { channel } = input
  const value = deps.codes.normalize(channel, input.value)
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await callExternally(deps, viewer, async (db) => {
    await ensureRate({ ...deps, ...db }, viewer)
    // Counted before it is sent, even if the request then fails, because it may cost money.
    await audit({ ...deps, ...db }, viewer, {
      action: 'identity.claim',
      agentId: null,
      detail: { channel, value },
    })
    await deps.codes.send(viewer.workspaceId, channel, value, `${code} ${CODE_WORDS}`)
  })
  const sealed = Uint8Array.from(
    await deps.keyring.seal(viewer.workspaceId, code, boundTo(viewer.id, channel)),
  )
  const expiresAt = new Date(deps.clock.now().getTime() + VALID_MS)
  const claim = { value, code: sealed, tries: 0, expiresAt }
  const where = { memberId_channel: { memberId: viewer.id, channel } }
  await deps.prisma.identityClaim.upsert({
    where,
    create: { memberId: viewer.id, channel, ...claim },
    update: claim,
  })
  return { channel, value, expiresAt }
}

/**
 * Returns the claim after counting this attempt, so that concurrent attempts are all counted. Null when there
 * is no claim with attempts left.
 */
const tryClaim = async (
  { prisma, clock }: Pick<IdentityDeps, 'prisma' | 'clock'>,
  memberId: string,
  channel: Channel,
) => {
  const where = { memberId, channel, tries: { lt: MAX_ATTEMPTS }, expiresAt: { gt: clock.now() } }
  const { count } = await prisma.identityClaim.updateMany({ where, data: { tries: { increment: 1 } } })
  return count === 0
    ? null
    : prisma.identityClaim.findUnique({ where: { memberId_channel: { memberId, channel } } })
}

/**
 * Redeems a code: assigns the address to the member, and removes it from any other member of the workspace.
 * Throws the same `invalid_input` for a wrong code, after 10 minutes, after 5 wrong codes, and when none was
 * requested.
 */
export const verifyIdentity = async (
  deps: IdentityDeps,
  viewer: Viewer,
  { channel, code }: { channel: CodeChannel; code: string },
): Promise<MemberIdentity> => {
  ensureMember(viewer)
  const { id: memberId, workspaceId } = viewer
  // Outside the transaction, so that a wrong code counts even if the request has an Idempotency-Key, which
  // rolls it back.
  const claim = await deps.outsideTransaction(({ prisma }) =>
    tryClaim({ prisma, clock: deps.clock }, memberId, channel),
  )
  const expected = claim && (await deps.keyring.open(workspaceId, claim.code, boundTo(memberId, channel)))
  if (
    !claim ||
    !expected ||
    code.length !== expected.length ||
    !timingSafeEqual(Buffer.from(code.padEnd(6).slice(0, 6)), expected)
  )
    throw wrongCode()
  const { value } = claim
  return deps.prisma.$transaction(async (tx) => {
    // Of concurrent requests with the same code, only one succeeds.
    const { count } = await tx.identityClaim.deleteMany({ where: { memberId, channel, code: claim.code } })
    if (count === 0) throw wrongCode()
    await audit({ ...deps, prisma: tx }, viewer, {
      action: 'identity.verify',
      agentId: null,
      detail: { channel, value },
    })
    return takeIdentity(tx, { workspaceId, memberId, channel, value, verifiedAt: deps.clock.now() })
  })
}

const wrongCode = () => invalidInput('code', 'is wrong or has expired: request a new one')

/**
 * Assigns an identity to a member and removes it from any other member of the workspace. Of concurrent calls,
 * the last one wins.
 */
export const takeIdentity = async (
  tx: Pick<Prisma.TransactionClient, '$queryRaw' | 'memberIdentity'>,
  { workspaceId, ...identity }: MemberIdentity & { workspaceId: string },
): Promise<MemberIdentity> => {
  await tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
  const { channel, value } = identity
  await tx.memberIdentity.deleteMany({ where: { channel, value, member: { workspaceId } } })
  return tx.memberIdentity.create({ data: identity })
}

/** Removes an identity: messages from it are no longer the member's. */
export const removeIdentity = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  { channel, value }: { channel: IdentityChannel; value: string },
): Promise<void> => {
  ensureMember(viewer)
  const { count } = await deps.prisma.memberIdentity.deleteMany({
    where: { memberId: viewer.id, channel, value },
  })
  if (count === 0) throw notFound('identity')
  await audit(deps, viewer, { action: 'identity.remove', agentId: null, detail: { channel, value } })
}

/** All codes, for the rotation of data keys; `bound` must equal the result of `boundTo`. */
export const SEALED_CODES: SealedColumn = {
  name: 'identity_claim.code',
  first: [NIL, ''],
  page: `
    select array[c.member_id::text, c.channel::text] as at, c.code as sealed, format('identity:%s:%s', c.member_id, c.channel) as bound
      from identity_claim c join member m on m.id = c.member_id
     where m.workspace_id = $1 and (c.member_id, c.channel::text) > (($2::text[])[1]::uuid, ($2::text[])[2])
     order by c.member_id, c.channel::text limit $3`,
  replace: `
    update identity_claim set code = $3
     where member_id = ($1::text[])[1]::uuid and channel = ($1::text[])[2]::"Channel" and code = $2`,
}
