import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { Db, Queryable } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Cipher } from '../../db/payload.ts'

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
const VERSION = 1

/**
 * Encrypts a value. Layout: version (1 byte), nonce (12), tag (16), ciphertext. `bound` is authenticated but
 * not stored: decryption needs the same text.
 */
export const encrypt = (key: Uint8Array, plain: Uint8Array, bound: string): Buffer => {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(bound))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body])
}

export const decrypt = (key: Uint8Array, sealed: Uint8Array, bound: string): Buffer => {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE + TAG) throw new Error('not a sealed value')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(1, 1 + NONCE))
    .setAAD(Buffer.from(bound))
    .setAuthTag(bytes.subarray(1 + NONCE, 1 + NONCE + TAG))
  return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE + TAG)), decipher.final()])
}

/**
 * Derives a 32-byte key for one purpose from the master key. It is the same in every process, and does not
 * reveal the master key.
 */
export const deriveKey = (masterKey: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))

/**
 * Returns the ciphers of what processes tell each other in notifications, by their names. Each has a key of its own,
 * because one key must not encrypt billions of values with random nonces.
 */
export const notificationCiphers =
  (masterKey: Uint8Array) =>
  (instance: string): Cipher => {
    const purpose = `notifications of ${instance}`
    const key = deriveKey(masterKey, purpose)
    return {
      seal: (plain, bound) => encrypt(key, Buffer.from(plain), `${purpose} ${bound}`),
      open: (sealed, bound) => decrypt(key, sealed, `${purpose} ${bound}`).toString(),
    }
  }

/** Encrypts a workspace's data key for storage, with the master key and bound to the workspace. */
export const wrapDataKey = (
  masterKey: Uint8Array,
  workspaceId: string,
  dataKey: Uint8Array = randomBytes(32),
): Buffer => encrypt(masterKey, dataKey, `workspace:${workspaceId}`)

const unwrapDataKey = (masterKey: Uint8Array, workspaceId: string, wrapped: Uint8Array): Buffer =>
  decrypt(masterKey, wrapped, `workspace:${workspaceId}`)

/** Returns whether this master key encrypted a workspace's data key. */
const opensDataKey = (masterKey: Uint8Array, workspaceId: string, wrapped: Uint8Array): boolean => {
  try {
    return unwrapDataKey(masterKey, workspaceId, wrapped).length === 32
  } catch {
    return false
  }
}

/**
 * Returns a function that says whether one of these master keys is that of the database, which any workspace tells.
 * Null as long as there is none, also before anything is migrated.
 */
export const readKeyTest = async (
  client: Queryable,
): Promise<((keys: readonly Uint8Array[]) => boolean) | null> => {
  const { rows: found } = await client.query<{ found: boolean }>(
    "select to_regclass('workspace') is not null as found",
  )
  if (!found[0]?.found) return null
  const { rows } = await client.query<{ id: string; key: Uint8Array }>(
    'select id, data_key as key from workspace limit 1',
  )
  const [workspace] = rows
  return workspace ? (keys) => keys.some((key) => opensDataKey(key, workspace.id, workspace.key)) : null
}

/**
 * Returns the master keys besides the current one. Called each time when that one does not decrypt something,
 * because the keys may have changed.
 */
export type OtherKeys = () => readonly Uint8Array[]

/**
 * Decrypts with the current key, else with one of the others. Throws the current key's error when none works.
 */
const openWithAny = (
  masterKey: Uint8Array,
  otherKeys: OtherKeys,
  open: (key: Uint8Array) => Buffer,
): Buffer => {
  try {
    return open(masterKey)
  } catch (error) {
    for (const key of otherKeys()) {
      try {
        return open(key)
      } catch {
        // try the next key
      }
    }
    throw error
  }
}

/**
 * Encrypts a workspace's data key anew, with the master key `to`; one of the keys `from` has encrypted it. Throws when none of them
 * decrypts it.
 */
export const rewrapped = (
  workspaceId: string,
  wrapped: Uint8Array,
  { from: [current, ...others], to }: { from: readonly Uint8Array[]; to: Uint8Array },
): Buffer => {
  const plain = openWithAny(
    current!,
    () => others,
    (key) => unwrapDataKey(key, workspaceId, wrapped),
  )
  return wrapDataKey(to, workspaceId, plain)
}

/**
 * Re-encrypts with `masterKey` the data keys that another key encrypted; returns their number. Throws when
 * none of the keys decrypts one.
 */
export const rewrapDataKeys = async (
  tx: Prisma.TransactionClient,
  masterKey: Uint8Array,
  otherKeys: OtherKeys,
): Promise<number> => {
  const rewrap = (workspaceId: string, wrapped: Uint8Array) => {
    const plain = openWithAny(masterKey, otherKeys, (key) => unwrapDataKey(key, workspaceId, wrapped))
    return Uint8Array.from(wrapDataKey(masterKey, workspaceId, plain))
  }
  const workspaces = await tx.workspace.findMany({ select: { id: true, dataKey: true } })
  const stale = workspaces.filter(({ id, dataKey }) => !opensDataKey(masterKey, id, dataKey))
  for (const { id, dataKey } of stale)
    await tx.workspace.update({ where: { id }, data: { dataKey: rewrap(id, dataKey) } })
  const retired = await tx.retiredDataKey.findMany()
  for (const { id, workspaceId, key } of retired)
    if (!opensDataKey(masterKey, workspaceId, key))
      await tx.retiredDataKey.update({ where: { id }, data: { key: rewrap(workspaceId, key) } })
  return stale.length
}

/**
 * Encrypts values that must not be readable in the database with the data key of their workspace. `bound`
 * identifies what the value belongs to (its table and ids): a value that was moved elsewhere does not
 * decrypt. The service's own values (`workspaceId` null) are encrypted with the master key itself.
 */
export interface Keyring {
  /** Loads a workspace's keys: encryption with them needs no database connection for the next minute. */
  load(workspaceId: string): Promise<void>
  seal(workspaceId: string | null, plain: string | Uint8Array, bound: string): Promise<Buffer>
  open(workspaceId: string | null, sealed: Uint8Array, bound: string): Promise<Buffer>
  /**
   * Re-encrypts a value with the current key; null when it already is. Throws `UnreadableError` when no key
   * decrypts it.
   */
  reseal(workspaceId: string, sealed: Uint8Array, bound: string): Promise<Buffer | null>
}

/** An encrypted value that none of its workspace's keys decrypts. */
export class UnreadableError extends Error {}

/**
 * Maximum age in milliseconds of a workspace's cached keys, after `load` and for encryption. Another process
 * may replace the keys.
 */
const FRESH_MS = 60_000
const MAX_AGE_MS = 2 * FRESH_MS

/** A workspace's data keys: the current one, then the former ones. */
type DataKeys = readonly [Buffer, ...Buffer[]]

interface Known {
  keys: Promise<DataKeys>
  /** Time at which they were read, in milliseconds since 1970. */
  at: number
}

/** Decrypts a value with one of the keys. Returns the key's index too; null when no key works. */
const openWithOneOf = (
  keys: DataKeys,
  sealed: Uint8Array,
  bound: string,
): { plain: Buffer; index: number } | null => {
  for (const [index, key] of keys.entries()) {
    try {
      return { plain: decrypt(key, sealed, bound), index }
    } catch {
      // try the next key
    }
  }
  return null
}

export const createKeyring = (
  { prisma }: Pick<Db, 'prisma'>,
  masterKey: Uint8Array,
  otherKeys: OtherKeys = () => [],
  clock: Clock = systemClock,
): Keyring => {
  const known = new Map<string, Known>()

  const read = async (id: string): Promise<DataKeys> => {
    const select = {
      dataKey: true,
      retiredDataKeys: { select: { key: true }, orderBy: { retiredAt: 'desc' } },
    } as const
    const { dataKey, retiredDataKeys } = await prisma.workspace.findUniqueOrThrow({ where: { id }, select })
    const unwrap = (wrapped: Uint8Array) =>
      openWithAny(masterKey, otherKeys, (key) => unwrapDataKey(key, id, wrapped))
    return [unwrap(dataKey), ...retiredDataKeys.map(({ key }) => unwrap(key))]
  }

  const keysOf = (workspaceId: string, maxAgeMs: number): Promise<DataKeys> => {
    const at = clock.now().getTime()
    const there = known.get(workspaceId)
    if (there && at - there.at <= maxAgeMs) return there.keys
    const made: Known = { keys: read(workspaceId), at }
    known.set(workspaceId, made)
    made.keys.catch(() => known.get(workspaceId) === made && known.delete(workspaceId))
    return made.keys
  }

  const open = async (workspaceId: string, sealed: Uint8Array, bound: string) => {
    const found =
      openWithOneOf(await keysOf(workspaceId, Number.POSITIVE_INFINITY), sealed, bound) ??
      // Another process may have replaced the key since they were read.
      openWithOneOf(await keysOf(workspaceId, -1), sealed, bound)
    if (!found) throw new UnreadableError('no key decrypts this value')
    return found.plain
  }

  return {
    load: async (workspaceId) => void (await keysOf(workspaceId, FRESH_MS)),
    seal: async (workspaceId, plain, bound) =>
      encrypt(
        workspaceId === null ? masterKey : (await keysOf(workspaceId, MAX_AGE_MS))[0],
        Buffer.from(plain),
        bound,
      ),
    open: async (workspaceId, sealed, bound) =>
      workspaceId === null
        ? openWithAny(masterKey, otherKeys, (key) => decrypt(key, sealed, bound))
        : open(workspaceId, sealed, bound),
    reseal: async (workspaceId, sealed, bound) => {
      const keys = await keysOf(workspaceId, FRESH_MS)
      const found = openWithOneOf(keys, sealed, bound)
      if (!found) throw new UnreadableError('no key decrypts this value')
      return found.index === 0 ? null : encrypt(keys[0], found.plain, bound)
    },
  }
}
