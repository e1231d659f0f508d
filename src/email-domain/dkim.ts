import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { DnsResolver } from '../channel/email/verify/resolver.ts'
import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { DkimKey, Prisma } from '../db/generated/prisma/client.ts'
import { NIL, type SealedColumn } from '../workspace/data-keys.ts'
import type { Keyring } from '../workspace/keyring.ts'

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

/** A key as published by its domain. */
export interface PublishedKey {
  selector: string
  /** Base64 of the DER form (SubjectPublicKeyInfo): the value of `p=`. */
  publicKey: string
  /**
   * The DNS record of RFC 6376 3.6. Its value is longer than 255 characters, so a zone file splits it into
   * several strings.
   */
  record: { name: string; type: 'TXT'; value: string }
  createdAt: Date
  /** Time since which it no longer signs; the record must stay until the mail that it signed has arrived. */
  retiredAt: Date | null
}

/**
 * Time in milliseconds for which the record of a retired key is still needed: mail may be in transit or in a
 * queue for some days (RFC 6376 3.1).
 */
const SHOWN_AFTER_RETIREMENT_MS = 7 * 24 * 3_600_000
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

const boundTo = ({ domain, workspaceId }: DkimOwner, selector: string) =>
  `dkim:${workspaceId ?? 'service'}:${domain}:${selector}`

const makeKey = async (
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

/** Returns keys that sign or did so recently, the newest first. */
const current = (
  { prisma, clock }: Pick<DkimDeps, 'clock'> & { prisma: Pick<Db['prisma'], 'dkimKey'> },
  of: DkimOwner | { OR: DkimOwner[] },
) =>
  prisma.dkimKey.findMany({
    where: {
      AND: [
        of,
        {
          OR: [
            { retiredAt: null },
            { retiredAt: { gt: new Date(clock.now().getTime() - SHOWN_AFTER_RETIREMENT_MS) } },
          ],
        },
      ],
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })

/** Returns the keys of a domain, and creates the first one. Concurrent callers get the same one. */
const ensureKeys = async (deps: DkimDeps, owner: DkimOwner): Promise<DkimKey[]> => {
  const found = await current(deps, owner)
  if (found.some(({ retiredAt }) => retiredAt === null)) return found
  const made = await makeKey(deps, owner)
  return deps.prisma.$transaction(async (tx) => {
    // A unique index cannot cover the service's own keys, whose workspace is null (NULLs are distinct).
    await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${boundTo(owner, '')}, 0))) as locked`
    const there = await current({ prisma: tx, clock: deps.clock }, owner)
    if (there.some(({ retiredAt }) => retiredAt === null)) return there
    return [await tx.dkimKey.create({ data: made }), ...there]
  })
}

const published = ({ domain, selector, publicKey, createdAt, retiredAt }: DkimKey): PublishedKey => ({
  selector,
  publicKey,
  record: { name: `${selector}._domainkey.${domain}`, type: 'TXT', value: `v=DKIM1; k=rsa; p=${publicKey}` },
  createdAt,
  retiredAt,
})

/**
 * Returns the keys whose records the domain should publish, the newest first. The first call creates the
 * first key.
 */
export const dkimKeys = async (deps: DkimDeps, owner: DkimOwner): Promise<PublishedKey[]> =>
  (await ensureKeys(deps, owner)).map(published)

/** Does the same without creating a key: for looking on. */
export const publishedDkimKeys = async (
  deps: Pick<DkimDeps, 'prisma' | 'clock'>,
  owner: DkimOwner,
): Promise<PublishedKey[]> => (await current(deps, owner)).map(published)

const isActive = ({ retiredAt }: DkimKey) => retiredAt === null

/** Does the same for many domains, in their order, with one statement besides creating missing keys. */
export const dkimKeysOfAll = async (
  deps: DkimDeps,
  owners: readonly DkimOwner[],
): Promise<PublishedKey[][]> => {
  const found = await current(deps, {
    OR: owners.map(({ domain, workspaceId }) => ({ domain, workspaceId })),
  })
  const keysOf = ({ domain, workspaceId }: DkimOwner) =>
    found.filter((key) => key.domain === domain && key.workspaceId === workspaceId)
  const ensure = async (owner: DkimOwner) => {
    const keys = keysOf(owner)
    return keys.some(isActive) ? keys : ensureKeys(deps, owner)
  }
  return (await Promise.all(owners.map(ensure))).map((keys) => keys.map(published))
}

/**
 * Creates another key. The previous one keeps signing until DNS publishes the new one's record (`signingKey`
 * checks), so that nothing is signed with a key that cannot be found.
 */
export const rotateDkimKey = async (deps: DkimDeps, owner: DkimOwner): Promise<PublishedKey[]> => {
  await ensureKeys(deps, owner)
  await deps.prisma.dkimKey.create({ data: await makeKey(deps, owner) })
  return dkimKeys(deps, owner)
}

const isPublished = async (resolver: DnsResolver, key: DkimKey): Promise<boolean> => {
  try {
    const records = (await resolver(published(key).record.name, 'TXT')) as string[][]
    return records.some((parts) => parts.join('').replace(/\s/g, '').includes(`p=${key.publicKey}`))
  } catch {
    return false
  }
}

/**
 * Returns the newest key that DNS publishes, and retires the keys before it. If none is published, returns
 * the oldest, which was the first to be published.
 */
const choose = async (deps: DkimDeps & { resolver: DnsResolver }, active: DkimKey[]): Promise<DkimKey> => {
  if (active.length > 1) {
    for (const [index, key] of active.entries()) {
      if (!(await isPublished(deps.resolver, key))) continue
      const before = active.slice(index + 1).map(({ id }) => id)
      await deps.prisma.dkimKey.updateMany({
        where: { id: { in: before } },
        data: { retiredAt: deps.clock.now() },
      })
      return key
    }
  }
  return active.at(-1)!
}

export interface SigningKey {
  domain: string
  selector: string
  /** PEM. */
  privateKey: string
}

/** Returns the key that mail of this domain is signed with now. */
export const signingKey = async (
  deps: DkimDeps & { resolver: DnsResolver },
  owner: DkimOwner,
): Promise<SigningKey> => {
  const active = (await ensureKeys(deps, owner)).filter(({ retiredAt }) => retiredAt === null)
  const { selector, privateKey } = await choose(deps, active)
  const pem = await deps.keyring.open(owner.workspaceId, privateKey, boundTo(owner, selector))
  return { domain: owner.domain, selector, privateKey: pem.toString() }
}

/** Re-encrypts the service's own keys with the current master key. Returns their number. */
export const resealServiceKeys = async (tx: Prisma.TransactionClient, keyring: Keyring): Promise<number> => {
  const keys = await tx.dkimKey.findMany({ where: { workspaceId: null } })
  for (const { id, domain, selector, privateKey } of keys) {
    const bound = boundTo({ domain, workspaceId: null }, selector)
    const sealed = await keyring.seal(null, await keyring.open(null, privateKey, bound), bound)
    await tx.dkimKey.update({ where: { id }, data: { privateKey: Uint8Array.from(sealed) } })
  }
  return keys.length
}

/**
 * The keys of workspaces' domains, for the rotation of data keys; `bound` must equal the result of `boundTo`.
 */
export const SEALED_DKIM_KEYS: SealedColumn = {
  name: 'dkim_key.private_key',
  first: [NIL],
  page: `
    select array[k.id::text] as at, k.private_key as sealed, format('dkim:%s:%s:%s', k.workspace_id, k.domain, k.selector) as bound
      from dkim_key k
     where k.workspace_id = $1 and k.id > ($2::text[])[1]::uuid
     order by k.id limit $3`,
  replace: `update dkim_key set private_key = $3 where id = ($1::text[])[1]::uuid and private_key = $2`,
}
