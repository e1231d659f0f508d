import type { Clock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import { Turns } from '../core/turns.ts'
import type { Db } from '../db/client.ts'
import { ensureNotMoving, type Keyring } from '../workspace/index.ts'
import { type BlobKey, BlobKeys, type BlobName, keyOf } from './key.ts'
import { createNotes, type Notes } from './note.ts'
import type { Bucket } from './s3.ts'

export interface BlobDeps extends Db {
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics?: Metrics
}

/** A place for contents outside the database. */
export interface BlobStore {
  bucket: Bucket
  /** Contents with fewer bytes stay in the database. */
  minBytes: number
}

/** Whose content it is. */
export interface BlobOwner {
  agentId: string
  workspaceId: string
}

/** A row with a content: here, or in the object store. */
export interface Contained {
  agentId: string
  content: Uint8Array<ArrayBuffer> | null
  blobId: string | null
}

/** An object is missing from the store, or it is not the one that was written. The message is for the log. */
export class UnreadableObject extends Error {
  override readonly name = 'UnreadableObject'
}

type Operation = 'put' | 'get' | 'delete'

/** A content is in memory while it waits for its turn, so that few may wait. */
const tooMany = () =>
  new AppError('unavailable', 'Too many messages are being stored or read at once.', { retryAfter: 5 })
const WRITES = { total: 32, perKey: 16, waiting: 200, tooMany }
const READS = { total: 32, perKey: 8, waiting: 200, tooMany }
const RETRY_AFTER = 30

/** For how long the result of a check is used for further questions, in milliseconds. */
const CHECKED_MS = 5_000

/**
 * The contents of messages that are outside the database: in objects of a bucket, encrypted with a key of the
 * workspace, one for each different content of an agent. Without a store (`BLOB_URL` is not set) everything new
 * stays in the database, and what is in a store cannot be read.
 */
export class Blobs {
  readonly #deps: BlobDeps
  readonly #store: BlobStore | null
  readonly #keys: BlobKeys
  readonly #notes: Notes
  readonly #writes = new Turns(WRITES)
  readonly #reads = new Turns(READS)
  #checked: { result: Promise<void>; until: number } | undefined

  constructor(deps: BlobDeps, store: BlobStore | null) {
    this.#deps = deps
    this.#store = store
    this.#keys = new BlobKeys(deps)
    this.#notes = createNotes(deps)
  }

  /** Whether new contents leave the database. */
  get isUsed(): boolean {
    return this.#store !== null
  }

  /** Contents with fewer bytes stay in the database. */
  get minBytes(): number {
    return this.#store?.minBytes ?? Number.POSITIVE_INFINITY
  }

  /**
   * Writes contents to the store and returns the ids of their objects; null for each that stays in the database.
   * To be called outside transactions, because it waits for the store. Throws `unavailable`.
   */
  async place(owner: BlobOwner, contents: readonly (Uint8Array | null)[]): Promise<(string | null)[]> {
    const ids = await Promise.all(
      contents.map((content) =>
        content === null || content.byteLength < this.minBytes ? null : this.#put(owner, content),
      ),
    )
    // The store may have taken long: what is written for a workspace that has been closed meanwhile would be lost.
    if (ids.some((id) => id !== null)) await ensureNotMoving(this.#deps, owner.workspaceId)
    return ids
  }

  /** Returns a row's content. Throws `unavailable` when it is in the store and cannot be read. */
  async contentOf({ agentId, content, blobId }: Contained): Promise<Uint8Array<ArrayBuffer>> {
    return content ?? this.#get(await this.#find(agentId, blobId!))
  }

  /** Returns a row with its content. */
  async filled<Row extends Contained>(row: Row): Promise<Row & { content: Uint8Array<ArrayBuffer> }> {
    return { ...row, content: await this.contentOf(row) }
  }

  /** Deletes an object from the store. */
  delete(name: BlobName): Promise<void> {
    return this.#use('delete', ({ bucket }) => bucket.delete(keyOf(name)))
  }

  /** Rejects with `unavailable` while the store cannot be used. The result is some seconds old at most. */
  async ensureUsable(): Promise<void> {
    if (!this.#store) return
    const now = this.#deps.clock.now().getTime()
    if (!this.#checked || this.#checked.until <= now)
      this.#checked = { result: this.#store.bucket.check(), until: now + CHECKED_MS }
    try {
      await this.#checked.result
    } catch (cause) {
      throw unavailable(cause)
    }
  }

  async close(): Promise<void> {
    await this.#store?.bucket.close()
  }

  async #put({ agentId, workspaceId }: BlobOwner, content: Uint8Array): Promise<string> {
    const key = await this.#keys.of(workspaceId)
    const noted = { agentId, workspaceId, hash: key.hash(content), size: content.byteLength }
    const name = { ...noted, id: await this.#notes.add(noted) }
    await this.#writes.run(agentId, () =>
      this.#use('put', ({ bucket }) => bucket.put(keyOf(name), key.seal(name, content))),
    )
    return name.id
  }

  async #find(agentId: string, id: string): Promise<BlobName> {
    const where = { id_agentId: { id, agentId } }
    return this.#deps.prisma.blob.findUniqueOrThrow({ where })
  }

  async #get(name: BlobName): Promise<Uint8Array<ArrayBuffer>> {
    const key = await this.#keys.of(name.workspaceId)
    return this.#reads.run(name.agentId, () =>
      this.#use('get', async ({ bucket }) => {
        const sealed = await bucket.get(keyOf(name))
        if (!sealed) throw new UnreadableObject(`there is no object ${keyOf(name)}`)
        return opened(key, name, sealed)
      }),
    )
  }

  async #use<Result>(operation: Operation, work: (store: BlobStore) => Promise<Result>): Promise<Result> {
    const { log, metrics } = this.#deps
    const began = performance.now()
    try {
      if (!this.#store) throw new Error('BLOB_URL is not set')
      const result = await work(this.#store)
      metrics?.count('blobRequests', operation)
      metrics?.observe('blobRequests', operation, (performance.now() - began) / 1000)
      return result
    } catch (cause) {
      metrics?.count('blobRequests', `${operation}_failed`)
      log.warn({ operation, error: messageOf(cause) }, 'the object store failed')
      throw unavailable(cause)
    }
  }
}

const opened = (key: BlobKey, name: BlobName, sealed: Uint8Array): Uint8Array<ArrayBuffer> => {
  try {
    return key.open(name, sealed) as Uint8Array<ArrayBuffer>
  } catch (cause) {
    throw new UnreadableObject(`the object ${keyOf(name)} is not the one that was written`, { cause })
  }
}

const unavailable = (cause: unknown): AppError =>
  new AppError('unavailable', 'The service cannot reach its object store. Try again shortly.', {
    cause,
    retryAfter: RETRY_AFTER,
  })
