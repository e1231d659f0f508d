import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Keyring } from '../workspace/index.ts'

/**
 * Owner of keys: a workspace, for a domain that it added, or the service itself, for the domain of
 * `MAIL_DOMAIN` (`workspaceId` null).
 */
export interface DkimOwner {
  domain: string
  workspaceId: string | null
}

export interface DkimDeps extends Db {
  keyring: Keyring
  clock: Clock
}

/** The size that every verifier supports (RFC 8301 3.2). */
const MODULUS_BITS = 2048

const newKeyPair = promisify(generateKeyPair)

let making: Promise<unknown> = Promise.resolve()
/**
 * Generates key pairs one after the other: each occupies one of the four threads of Node's pool for a while,
 * which DNS lookups and new connections need too.
 */
const makePair = () => {
  const made = making.then(() =>
    newKeyPair('rsa', {
      modulusLength: MODULUS_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }),
  )
  making = made.catch(() => undefined)
  return made
}

const newEd25519Pair = () =>
  newKeyPair('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

/** What a private key is encrypted for: it cannot be decrypted as that of another owner or selector. */
export const boundTo = ({ domain, workspaceId }: DkimOwner, selector: string) =>
  `dkim:${workspaceId ?? 'service'}:${domain}:${selector}`

/** The selector of the Ed25519 key that belongs to an RSA key. A domain's two keys need two records. */
export const ed25519Selector = (selector: string): string => `${selector}-ed25519`

/** Length in bytes of an Ed25519 key, which follows a fixed prefix in its DER form (RFC 8410 4). */
const ED25519_BYTES = 32

/** Makes the Ed25519 key that belongs to an RSA key. */
export const makeEd25519 = async (
  { keyring }: Pick<DkimDeps, 'keyring'>,
  owner: DkimOwner,
  selector: string,
) => {
  const { publicKey, privateKey } = await newEd25519Pair()
  const sealed = await keyring.seal(owner.workspaceId, privateKey, boundTo(owner, ed25519Selector(selector)))
  return {
    ed25519PublicKey: publicKey.subarray(-ED25519_BYTES).toString('base64'),
    ed25519PrivateKey: Uint8Array.from(sealed),
  }
}

/** Makes an RSA key and its Ed25519 key. */
export const makeKey = async (
  { keyring, clock }: DkimDeps,
  owner: DkimOwner,
): Promise<Prisma.DkimKeyUncheckedCreateInput> => {
  const selector = `ams-${randomBytes(4).toString('hex')}`
  const { publicKey, privateKey } = await makePair()
  const sealed = await keyring.seal(owner.workspaceId, privateKey, boundTo(owner, selector))
  return {
    ...owner,
    selector,
    publicKey: publicKey.toString('base64'),
    privateKey: Uint8Array.from(sealed),
    ...(await makeEd25519({ keyring }, owner, selector)),
    createdAt: clock.now(),
  }
}

const inProgress = new Map<string, Promise<Prisma.DkimKeyUncheckedCreateInput>>()

/**
 * Generates a key pair, to be stored by the caller. Concurrent callers for the same domain get the same pair.
 * Takes a while, and longer while others are being generated.
 */
export const newKey = (deps: DkimDeps, owner: DkimOwner): Promise<Prisma.DkimKeyUncheckedCreateInput> => {
  const name = boundTo(owner, '')
  const made = inProgress.get(name) ?? makeKey(deps, owner).finally(() => inProgress.delete(name))
  inProgress.set(name, made)
  return made
}
