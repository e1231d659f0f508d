import type { Clock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { publicPlace } from '../core/http/public-place.ts'
import { quoted } from '../core/text/quoted.ts'
import type { Db } from '../db/client.ts'
import type { Passkey, Prisma } from '../db/generated/prisma/client.ts'
import { audit, ensureMember, ensureOwner, type Mailer, type Viewer } from '../workspace/index.ts'
import { challengeTime, newChallenge } from './challenge.ts'
import { ensureMayManage } from './session.ts'

export interface PasskeyDeps extends Db {
  clock: Clock
  mailer: Pick<Mailer, 'send'>
  publicUrl(): string
}

export interface ChallengeDeps extends PasskeyDeps {
  /** Signs challenges. */
  challengeKey: Uint8Array
}

/** Loaded only when needed: most requests, and many services, use no passkeys. */
export const webauthn = () => import('@simplewebauthn/server')

const SERVICE = 'Agent Messaging Service'
/** Maximum number of passkeys of a member. @limit Signing in */
const MAX_PASSKEYS = 20

/** The host to which passkeys are bound, and the only origin whose pages may use them. */
export const relyingParty = ({ publicUrl }: Pick<PasskeyDeps, 'publicUrl'>) => {
  const { origin } = publicPlace(publicUrl())
  return { id: new URL(origin).hostname, origin }
}

/** Parses the browser's answer, of whose content only the library's checks are relied on. */
export const parseAnswer = <Answer>(text: string): Answer & { id: string } => {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null && 'id' in answer && typeof answer.id === 'string')
      return answer as Answer & { id: string }
  } catch {
    // rejected below
  }
  throw new AppError('invalid_input', 'The browser’s answer could not be read.')
}

/** Returns a passkey in its public form. */
export const presentPasskey = ({ id, memberId, name, createdAt, lastUsedAt }: Passkey) => ({
  id,
  memberId,
  name,
  createdAt,
  lastUsedAt,
})

export type PublicPasskey = ReturnType<typeof presentPasskey>

/**
 * Returns a member's passkeys, oldest first. Those of others: for owners. Throws `not_found` for someone who is
 * no member of the workspace.
 */
export const listPasskeys = async (
  { prisma }: Db,
  viewer: Viewer,
  memberId: string,
): Promise<PublicPasskey[]> => {
  await ensureMayManage({ prisma }, viewer, { memberId })
  const found = await prisma.passkey.findMany({
    where: { memberId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return found.map(presentPasskey)
}

/** A challenge counts only in the session that it was created for. */
const purposeOf = ({ tokenId }: Viewer) => `register ${tokenId}`

/** Returns the options with which a browser creates a passkey for the calling member. */
export const passkeyOptions = async (deps: ChallengeDeps, viewer: Viewer) => {
  ensureMember(viewer)
  const known = await deps.prisma.passkey.findMany({ where: { memberId: viewer.id } })
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: SERVICE,
    rpID: relyingParty(deps).id,
    userName: viewer.email ?? '',
    userDisplayName: viewer.name ?? viewer.email ?? '',
    userID: new TextEncoder().encode(viewer.id),
    challenge: newChallenge(deps.challengeKey, purposeOf(viewer), deps.clock.now()),
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId }) => ({
      id: Buffer.from(credentialId).toString('base64url'),
    })),
    // A passkey that the device finds and unlocks on its own is both factors at once.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

type RegistrationAnswer = Parameters<
  Awaited<ReturnType<typeof webauthn>>['verifyRegistrationResponse']
>[0]['response']

const verifyRegistration = async (deps: ChallengeDeps, viewer: Viewer, text: string) => {
  const answer = parseAnswer<RegistrationAnswer>(text)
  const { verifyRegistrationResponse } = await webauthn()
  const { id, origin } = relyingParty(deps)
  const now = deps.clock.now()
  const verified = await verifyRegistrationResponse({
    response: answer,
    expectedChallenge: (challenge) =>
      challengeTime(deps.challengeKey, purposeOf(viewer), challenge, now) !== null,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
  }).catch(() => null)
  if (!verified?.verified)
    throw new AppError(
      'invalid_input',
      'The passkey could not be verified. Open the page again, and try again.',
    )
  return verified.registrationInfo.credential
}

/** Tells a member about a change of their passkeys: who did not make it should know. */
const tell = (
  { mailer, publicUrl, afterCommit }: PasskeyDeps,
  email: string,
  { name, change }: { name: string; change: 'added' | 'removed' },
): void =>
  afterCommit(() =>
    mailer.send({
      to: email,
      subject: `A passkey was ${change}`,
      text: `The passkey ${quoted(name)} with which you sign in to Agent Messaging Service was ${change}.

If this was not you, end your sessions and check your passkeys: ${publicUrl()}/app
`,
    }),
  )

/** Throws `conflict` when the member has too many. Locks the member, so that concurrent ones are counted. */
const ensureMore = async (tx: Prisma.TransactionClient, memberId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from member where id = ${memberId}::uuid for no key update`
  if ((await tx.passkey.count({ where: { memberId } })) >= MAX_PASSKEYS)
    throw new AppError('conflict', `At most ${MAX_PASSKEYS} passkeys are possible: remove one first.`)
}

/**
 * Registers the passkey that the browser created, under a name. Throws `invalid_input` when it cannot be
 * verified, `conflict` when it is known already.
 */
export const addPasskey = async (
  deps: ChallengeDeps,
  viewer: Viewer,
  { answer, name }: { answer: string; name: string },
): Promise<PublicPasskey> => {
  ensureMember(viewer)
  const credential = await verifyRegistration(deps, viewer, answer)
  const credentialId = Buffer.from(credential.id, 'base64url')
  const data = {
    memberId: viewer.id,
    credentialId,
    publicKey: credential.publicKey,
    counter: credential.counter,
    transports: credential.transports ?? [],
    name,
    createdAt: deps.clock.now(),
  }
  const made = await deps.prisma.$transaction(async (tx) => {
    await ensureMore(tx, viewer.id)
    if ((await tx.passkey.count({ where: { credentialId } })) > 0)
      throw new AppError('conflict', 'This passkey is registered already.')
    const passkey = await tx.passkey.create({ data })
    const detail = { passkey: passkey.id, name }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'passkey.add', agentId: null, detail })
    return passkey
  })
  tell(deps, viewer.email ?? '', { name, change: 'added' })
  return presentPasskey(made)
}

/** Throws `conflict` for the member's last passkey if the workspace requires one. */
const ensureNotLast = async (tx: Prisma.TransactionClient, memberId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from member where id = ${memberId}::uuid for no key update`
  const { workspace } = await tx.member.findUniqueOrThrow({
    where: { id: memberId },
    include: { workspace: true },
  })
  if (workspace.requirePasskeys && (await tx.passkey.count({ where: { memberId } })) === 1)
    throw new AppError('conflict', 'This workspace requires a passkey: add another one first.')
}

/**
 * Removes a passkey: the calling member's own, or for owners any of the workspace. Sessions continue. Throws
 * `not_found`, and `conflict` for a member's own last one if the workspace requires passkeys.
 */
export const removePasskey = async (deps: PasskeyDeps, viewer: Viewer, passkeyId: string): Promise<void> => {
  ensureMember(viewer)
  const removed = await deps.prisma.$transaction(async (tx) => {
    const where = { id: passkeyId, member: { workspaceId: viewer.workspaceId } }
    const passkey = await tx.passkey.findFirst({ where, include: { member: true } })
    const own = passkey?.memberId === viewer.id
    if (!passkey || !(own || viewer.role === 'owner')) throw notFound('passkey')
    if (own) await ensureNotLast(tx, viewer.id)
    else ensureOwner(viewer)
    if ((await tx.passkey.deleteMany({ where: { id: passkeyId } })).count === 0) throw notFound('passkey')
    const detail = { passkey: passkeyId, member: passkey.memberId, name: passkey.name }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'passkey.remove', agentId: null, detail })
    return passkey
  })
  tell(deps, removed.member.email, { name: removed.name, change: 'removed' })
}
