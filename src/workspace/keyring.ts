import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Db } from '../db/client.ts'

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

/** Whether this master key is the one that wrapped a workspace's data key. */
export const opensDataKey = (masterKey: Uint8Array, workspaceId: string, wrapped: Uint8Array): boolean => {
  try {
    return openWith(masterKey, wrapped, `workspace:${workspaceId}`).length === 32
  } catch {
    return false
  }
}

/**
 * Seals what must not be readable in the database with the data key of its workspace. `bound` names what the value belongs to (its
 * table and ids): a sealed value that was moved elsewhere does not open. What is no workspace's but the service's own (`workspaceId`
 * null) is sealed with the master key itself.
 */
export interface Keyring {
  seal(workspaceId: string | null, plain: string | Uint8Array, bound: string): Promise<Buffer>
  open(workspaceId: string | null, sealed: Uint8Array, bound: string): Promise<Buffer>
}

export const createKeyring = ({ prisma }: Db, masterKey: Uint8Array): Keyring => {
  const dataKeys = new Map<string, Promise<Buffer>>()

  const load = async (workspaceId: string) => {
    const { dataKey } = await prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId }, select: { dataKey: true } })
    return openWith(masterKey, dataKey, `workspace:${workspaceId}`)
  }

  const dataKeyOf = (workspaceId: string) => {
    const known = dataKeys.get(workspaceId)
    if (known) return known
    const loading = load(workspaceId)
    dataKeys.set(workspaceId, loading)
    loading.catch(() => dataKeys.delete(workspaceId))
    return loading
  }

  const keyOf = async (workspaceId: string | null) => (workspaceId === null ? masterKey : dataKeyOf(workspaceId))

  return {
    seal: async (workspaceId, plain, bound) => sealWith(await keyOf(workspaceId), Buffer.from(plain), bound),
    open: async (workspaceId, sealed, bound) => openWith(await keyOf(workspaceId), sealed, bound),
  }
}
