import type { IncomingMessage } from 'node:http'
import type { AppError } from '../core/errors.ts'
import { clientOf } from '../core/http/http.ts'
import type { Member, Passkey } from '../db/generated/prisma/client.ts'
import { audit, ensureNotMoving } from '../workspace/index.ts'
import { browserOf } from './browser.ts'
import { challengeTime, newChallenge } from './challenge.ts'
import { type ChallengeDeps, parseAnswer, relyingParty, webauthn } from './passkey.ts'
import { type SignInDeps, signIn } from './sign-in.ts'

type Deps = SignInDeps & ChallengeDeps

const PURPOSE = 'sign in'

/** Returns the options with which a browser asks for any passkey of this service. */
export const signInOptions = async (deps: ChallengeDeps) => {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: relyingParty(deps).id,
    challenge: newChallenge(deps.challengeKey, PURPOSE, deps.clock.now()),
    userVerification: 'required',
  })
}

type SignInAnswer = Parameters<
  Awaited<ReturnType<typeof webauthn>>['verifyAuthenticationResponse']
>[0]['response']

type KnownPasskey = Passkey & { member: Member }

/** Returns the passkey's new counter and the time of the challenge; null when the answer is not valid. */
const verify = async (
  deps: ChallengeDeps,
  { credentialId, publicKey, counter }: KnownPasskey,
  answer: SignInAnswer,
): Promise<{ counter: number; challengedAt: Date } | null> => {
  const { verifyAuthenticationResponse } = await webauthn()
  const { id, origin } = relyingParty(deps)
  let challengedAt: Date | null = null
  const verified = await verifyAuthenticationResponse({
    response: answer,
    expectedChallenge: (challenge) => {
      challengedAt = challengeTime(deps.challengeKey, PURPOSE, challenge, deps.clock.now())
      return challengedAt !== null
    },
    expectedOrigin: origin,
    expectedRPID: id,
    credential: {
      id: Buffer.from(credentialId).toString('base64url'),
      publicKey: Uint8Array.from(publicKey),
      counter: Number(counter),
    },
    requireUserVerification: true,
  }).catch(() => null)
  if (!verified?.verified || !challengedAt) return null
  return { counter: verified.authenticationInfo.newCounter, challengedAt }
}

/** Records the use; false when the passkey has signed this challenge, or a later one, before. */
const noteUse = async (
  { prisma, clock }: ChallengeDeps,
  { id }: KnownPasskey,
  { counter, challengedAt }: { counter: number; challengedAt: Date },
): Promise<boolean> => {
  const unused = { OR: [{ challengedAt: null }, { challengedAt: { lt: challengedAt } }] }
  const { count } = await prisma.passkey.updateMany({
    where: { id, ...unused },
    data: { counter, challengedAt, lastUsedAt: clock.now() },
  })
  return count === 1
}

const refused = (deps: Deps, request: IncomingMessage): AppError =>
  deps.failedTokens.fail(clientOf(request), 'This passkey was not accepted. Try again.')

/**
 * Signs in with a passkey. Returns the Set-Cookie header. Throws `unauthorized` for an unknown passkey and for
 * an answer that is wrong, late or was used before, and `unavailable` while the workspace moves to another installation.
 */
export const signInByPasskey = async (
  deps: Deps,
  request: IncomingMessage,
  text: string,
): Promise<string> => {
  const answer = parseAnswer<SignInAnswer>(text)
  const passkey = await deps.failedTokens.lookUp(clientOf(request), () =>
    deps.prisma.passkey.findUnique({
      where: { credentialId: Buffer.from(answer.id, 'base64url') },
      include: { member: true },
    }),
  )
  if (!passkey) throw refused(deps, request)
  await ensureNotMoving(deps, passkey.member.workspaceId)
  const use = await verify(deps, passkey, answer)
  if (use && (await noteUse(deps, passkey, use))) return signIn(deps, request, passkey.member, 'passkey')
  const { workspaceId, id } = passkey.member
  const browser = browserOf(request.headers['user-agent'])
  const detail = { way: 'passkey', reason: use ? 'used' : 'invalid', browser }
  const error = refused(deps, request)
  if (error.code === 'unauthorized')
    await audit(
      deps,
      { workspaceId, kind: 'member', id, tokenId: null },
      {
        action: 'session.refuse',
        agentId: null,
        detail,
      },
    )
  throw error
}
