import { createHmac, randomBytes } from 'node:crypto'
import type { Db } from '../db/client.ts'
import { decrypt, deriveKey, encrypt, type Keyring, NIL, type SealedColumn } from '../workspace/index.ts'

/** An object: its part of a key in the store, which names the content, and whose it is. */
export interface BlobName {
  id: string
  agentId: string
  workspaceId: string
  hash: Uint8Array
}

/** The key of an object, without the bucket's prefix. */
export const keyOf = ({ workspaceId, agentId, hash, id }: BlobName): string =>
  `${workspaceId}/${agentId}/${Buffer.from(hash).toString('hex')}-${id}`

/**
 * The key of one workspace's objects. The names of objects depend on it too: someone who reads the bucket cannot find
 * out whether a workspace has a certain file.
 */
export class BlobKey {
  readonly #names: Buffer
  readonly #contents: Buffer

  constructor(key: Uint8Array) {
    this.#names = deriveKey(key, 'names of objects')
    this.#contents = deriveKey(key, 'contents of objects')
  }

  hash(content: Uint8Array): Buffer {
    return createHmac('sha256', this.#names).update(content).digest()
  }

  /** Encrypts a content for the object of this name: as another object it cannot be decrypted. */
  seal(name: BlobName, content: Uint8Array): Buffer {
    return encrypt(this.#contents, content, keyOf(name))
  }

  /** Throws if anything was changed. */
  open(name: BlobName, sealed: Uint8Array): Buffer {
    return decrypt(this.#contents, sealed, keyOf(name))
  }
}

const boundTo = (workspaceId: string): string => `blob_key:${workspaceId}`

/** The keys of workspaces: created with the first object, and kept encrypted with the workspace's data key. */
export class BlobKeys {
  readonly #deps: Db & { keyring: Keyring }
  readonly #known = new Map<string, Promise<BlobKey>>()

  constructor(deps: Db & { keyring: Keyring }) {
    this.#deps = deps
  }

  of(workspaceId: string): Promise<BlobKey> {
    const known = this.#known.get(workspaceId)
    if (known) return known
    const reading = this.#read(workspaceId)
    this.#known.set(workspaceId, reading)
    reading.catch(() => this.#known.delete(workspaceId))
    return reading
  }

  async #read(workspaceId: string): Promise<BlobKey> {
    const { prisma, keyring } = this.#deps
    const where = { workspaceId }
    if (!(await prisma.blobKey.findUnique({ where }))) {
      const fresh = await keyring.seal(workspaceId, randomBytes(32), boundTo(workspaceId))
      // Another process may have been faster.
      await prisma.blobKey.createMany({
        data: { workspaceId, sealed: Uint8Array.from(fresh) },
        skipDuplicates: true,
      })
    }
    const { sealed } = await prisma.blobKey.findUniqueOrThrow({ where })
    return new BlobKey(await keyring.open(workspaceId, sealed, boundTo(workspaceId)))
  }
}

/** The keys, for the rotation of data keys; `bound` must equal the result of `boundTo`. */
export const SEALED_BLOB_KEYS: SealedColumn = {
  name: 'blob_key.sealed',
  first: [NIL],
  page: `
    select array[workspace_id::text] as at, sealed, format('blob_key:%s', workspace_id) as bound
      from blob_key where workspace_id = $1 and workspace_id > ($2::text[])[1]::uuid limit $3`,
  replace: 'update blob_key set sealed = $3 where workspace_id = ($1::text[])[1]::uuid and sealed = $2',
}
