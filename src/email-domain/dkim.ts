import type { Db } from '../db/client.ts'
import type { DkimKey } from '../db/generated/prisma/client.ts'
import type { DnsResolver } from '../mail/index.ts'
import { boundTo, type DkimDeps, type DkimOwner, ed25519Selector, makeEd25519, makeKey } from './key-pair.ts'

/** A key as published by its domain. */
export interface PublishedKey {
  algorithm: 'rsa' | 'ed25519'
  selector: string
  /** The value of `p=`: base64 of the DER form (SubjectPublicKeyInfo) of RSA, of the 32 bytes of Ed25519. */
  publicKey: string
  /**
   * The DNS record of RFC 6376 3.6. That of RSA is longer than 255 characters, so a zone file splits it into
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

const isActive = ({ retiredAt }: DkimKey) => retiredAt === null

/** Whether no key has to be created: one signs, and each that signs has an Ed25519 key. */
const isComplete = (keys: readonly DkimKey[]): boolean =>
  keys.some(isActive) && keys.every((key) => !isActive(key) || key.ed25519PublicKey !== null)

/** Adds Ed25519 keys to those that were created by an earlier version. Of concurrent callers the first adds. */
const addEd25519 = async (deps: DkimDeps, owner: DkimOwner, keys: readonly DkimKey[]): Promise<void> => {
  for (const { id, selector, ed25519PublicKey } of keys.filter(isActive)) {
    if (ed25519PublicKey !== null) continue
    const data = await makeEd25519(deps, owner, selector)
    await deps.prisma.dkimKey.updateMany({ where: { id, ed25519PublicKey: null }, data })
  }
}

/** Returns the keys of a domain, and creates those that are missing. Concurrent callers get the same ones. */
const ensureKeys = async (deps: DkimDeps, owner: DkimOwner): Promise<DkimKey[]> => {
  const found = await current(deps, owner)
  if (isComplete(found)) return found
  if (found.some(isActive)) {
    await addEd25519(deps, owner, found)
    return current(deps, owner)
  }
  const made = await makeKey(deps, owner)
  return deps.prisma.$transaction(async (tx) => {
    // A unique index cannot cover the service's own keys, whose workspace is null (NULLs are distinct).
    await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${boundTo(owner, '')}, 0))) as locked`
    const there = await current({ prisma: tx, clock: deps.clock }, owner)
    if (there.some(isActive)) return there
    return [await tx.dkimKey.create({ data: made }), ...there]
  })
}

const publishedAs = (
  { domain, createdAt, retiredAt }: DkimKey,
  { algorithm, selector, publicKey }: Pick<PublishedKey, 'algorithm' | 'selector' | 'publicKey'>,
): PublishedKey => ({
  ...{ algorithm, selector, publicKey, createdAt, retiredAt },
  record: {
    name: `${selector}._domainkey.${domain}`,
    type: 'TXT',
    value: `v=DKIM1; k=${algorithm}; p=${publicKey}`,
  },
})

const publishedRsa = (key: DkimKey): PublishedKey => publishedAs(key, { algorithm: 'rsa', ...key })

const publishedEd25519 = (key: DkimKey): PublishedKey | null =>
  key.ed25519PublicKey === null
    ? null
    : publishedAs(key, {
        algorithm: 'ed25519',
        selector: ed25519Selector(key.selector),
        publicKey: key.ed25519PublicKey,
      })

const published = (keys: readonly DkimKey[]): PublishedKey[] =>
  keys.flatMap((key) => [publishedRsa(key), publishedEd25519(key)].filter((one) => one !== null))

/**
 * Returns the keys whose records the domain should publish, the newest first, each RSA key followed by its
 * Ed25519 key. The first call creates the first keys.
 */
export const dkimKeys = async (deps: DkimDeps, owner: DkimOwner): Promise<PublishedKey[]> =>
  published(await ensureKeys(deps, owner))

/** Returns the keys without creating any. */
export const publishedDkimKeys = async (
  deps: Pick<DkimDeps, 'prisma' | 'clock'>,
  owner: DkimOwner,
): Promise<PublishedKey[]> => published(await current(deps, owner))

/** Like `dkimKeys` for many domains, in their order, with one statement besides creating missing keys. */
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
    return isComplete(keys) ? keys : ensureKeys(deps, owner)
  }
  return (await Promise.all(owners.map(ensure))).map(published)
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

const isPublished = async (resolver: DnsResolver, { record, publicKey }: PublishedKey): Promise<boolean> => {
  try {
    const records = (await resolver(record.name, 'TXT')) as string[][]
    return records.some((parts) => parts.join('').replace(/\s/g, '').includes(`p=${publicKey}`))
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
      if (!(await isPublished(deps.resolver, publishedRsa(key)))) continue
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

const opened = async (
  { keyring }: Pick<DkimDeps, 'keyring'>,
  owner: DkimOwner,
  selector: string,
  sealed: Uint8Array,
): Promise<SigningKey> => {
  const pem = await keyring.open(owner.workspaceId, sealed, boundTo(owner, selector))
  return { domain: owner.domain, selector, privateKey: pem.toString() }
}

/**
 * Returns the keys that mail of this domain is signed with now: an RSA key, and its Ed25519 key if DNS
 * publishes that too. A second signature whose key cannot be found would count as a failure at some receivers.
 */
export const signingKeys = async (
  deps: DkimDeps & { resolver: DnsResolver },
  owner: DkimOwner,
): Promise<SigningKey[]> => {
  const key = await choose(deps, (await ensureKeys(deps, owner)).filter(isActive))
  const rsa = await opened(deps, owner, key.selector, key.privateKey)
  const second = publishedEd25519(key)
  if (second === null || !(await isPublished(deps.resolver, second))) return [rsa]
  return [rsa, await opened(deps, owner, second.selector, key.ed25519PrivateKey!)]
}

/** Deletes the keys of a workspace that is being deleted. */
export const deleteKeysOf = async ({ prisma }: Pick<Db, 'prisma'>, workspaceId: string): Promise<void> => {
  await prisma.dkimKey.deleteMany({ where: { workspaceId } })
}
