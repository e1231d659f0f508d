import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
const VERSION = 1

/** Layout: version (1 byte), nonce (12), tag (16), ciphertext. `bound` is authenticated, not stored: opening needs the same words again. */
const sealWith = (key: Uint8Array, plain: Uint8Array, bound: string): Buffer => {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(bound))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body])
}

const openWith = (key: Uint8Array, sealed: Uint8Array, bound: string): Buffer => {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE + TAG) throw new Error('not a sealed value')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(1, 1 + NONCE))
    .setAAD(Buffer.from(bound))
    .setAuthTag(bytes.subarray(1 + NONCE, 1 + NONCE + TAG))
  return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE + TAG)), decipher.final()])
}

/** A key of 32 bytes for one purpose, made of the master key: the same again in every process, and no way back. */
export const deriveKey = (masterKey: Uint8Array, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))

/** A workspace's own data key, as it is stored: wrapped by the master key, bound to the workspace. */
export const wrapDataKey = (masterKey: Uint8Array, workspaceId: string, dataKey: Uint8Array = randomBytes(32)): Buffer =>
  sealWith(masterKey, dataKey, `workspace:${workspaceId}`)

const unwrapDataKey = (masterKey: Uint8Array, workspaceId: string, wrapped: Uint8Array): Buffer =>
  openWith(masterKey, wrapped, `workspace:${workspaceId}`)

/** Whether this master key is the one that wrapped a workspace's data key. */
export const opensDataKey = (masterKey: Uint8Array, workspaceId: string, wrapped: Uint8Array): boolean => {
  try {
    return unwrapDataKey(masterKey, workspaceId, wrapped).length === 32
  } catch {
    return false
  }
}

/** Master keys besides the one in use. Called when that one doesn't open something, and worth calling again: they may be changed meanwhile. */
export type OtherKeys = () => readonly Uint8Array[]

/** Opens with the key in use, else with one of the others. Throws what the key in use made of it when none does. */
const openWithAny = (masterKey: Uint8Array, otherKeys: OtherKeys, open: (key: Uint8Array) => Buffer): Buffer => {
  try {
    return open(masterKey)
  } catch (error) {
    for (const key of otherKeys()) {
      try {
        return open(key)
      } catch {
        // the next one
      }
    }
    throw error
  }
}

/** Wraps with `masterKey` the data keys that another one wrapped; returns how many. Throws when one opens with none of the keys. */
export const rewrapDataKeys = async (tx: Prisma.TransactionClient, masterKey: Uint8Array, otherKeys: OtherKeys): Promise<number> => {
  const workspaces = await tx.workspace.findMany({ select: { id: true, dataKey: true } })
  const stale = workspaces.filter(({ id, dataKey }) => !opensDataKey(masterKey, id, dataKey))
  for (const { id, dataKey } of stale) {
    const plain = openWithAny(masterKey, otherKeys, (key) => unwrapDataKey(key, id, dataKey))
    await tx.workspace.update({ where: { id }, data: { dataKey: Uint8Array.from(wrapDataKey(masterKey, id, plain)) } })
  }
  return stale.length
}

/**
 * Seals what must not be readable in the database with the data key of its workspace. `bound` names what the value belongs to (its
 * table and ids): a sealed value that was moved elsewhere does not open. What is no workspace's but the service's own (`workspaceId`
 * null) is sealed with the master key itself.
 */
export interface Keyring {
  /** Fetches a workspace's key: what seals with it afterwards needs no connection of its own. */
  load(workspaceId: string): Promise<void>
  seal(workspaceId: string | null, plain: string | Uint8Array, bound: string): Promise<Buffer>
  open(workspaceId: string | null, sealed: Uint8Array, bound: string): Promise<Buffer>
}

export const createKeyring = ({ prisma }: Db, masterKey: Uint8Array, otherKeys: OtherKeys = () => []): Keyring => {
  const dataKeys = new Map<string, Promise<Buffer>>()

  const load = async (workspaceId: string) => {
    const { dataKey } = await prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId }, select: { dataKey: true } })
    return openWithAny(masterKey, otherKeys, (key) => unwrapDataKey(key, workspaceId, dataKey))
  }

  const dataKeyOf = (workspaceId: string) => {
    const known = dataKeys.get(workspaceId)
    if (known) return known
    const loading = load(workspaceId)
    dataKeys.set(workspaceId, loading)
    loading.catch(() => dataKeys.delete(workspaceId))
    return loading
  }

  return {
    load: async (workspaceId) => void (await dataKeyOf(workspaceId)),
    seal: async (workspaceId, plain, bound) =>
      sealWith(workspaceId === null ? masterKey : await dataKeyOf(workspaceId), Buffer.from(plain), bound),
    open: async (workspaceId, sealed, bound) =>
      workspaceId === null
        ? openWithAny(masterKey, otherKeys, (key) => openWith(key, sealed, bound))
        : openWith(await dataKeyOf(workspaceId), sealed, bound),
  }
}
