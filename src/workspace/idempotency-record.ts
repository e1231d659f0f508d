import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { IdempotencyKey, Prisma } from '../db/generated/prisma/client.ts'
import { NIL, type SealedColumn } from './encryption/data-keys.ts'
import type { Keyring } from './encryption/keyring.ts'
import type { Viewer } from './token/viewer.ts'

/** A request that may be repeated: the key that its client chose, and a SHA-256 of its contents. */
export interface Attempt {
  key: string
  hash: Buffer
}

export interface Answer {
  status: number
  body: string
}

export const KEPT_MS = 24 * 3_600_000
/** Longer than any external call takes. After a crash, the reservation expires. */
const RESERVED_MS = 60_000
/** The status of a request that is still running. */
const RUNNING = 0
const KEY_BYTES = 32

type Tx = Prisma.TransactionClient
type Deps = Db & { clock: Clock; keyring: Keyring }

const bindingOf = (tokenId: string, key: string) => `idempotency:${tokenId}:${key}`

/**
 * Returns the mark by which a request is recognised. Without the key in its row, which is encrypted, nobody
 * can guess the request's contents.
 */
const markOf = (key: Uint8Array, { hash }: Attempt): Buffer => createHmac('sha256', key).update(hash).digest()

export const stillRunning = () =>
  new AppError('conflict', 'A request with this Idempotency-Key is still running.')
const tookTooLong = () =>
  new AppError('unavailable', 'This request took too long, and nothing was done. Try again.')

/** The id of the message that a request sent, in its response over REST, GraphQL or MCP; undefined if it sent none. */
const sentIn = (answer: string): string | undefined => {
  try {
    const body = JSON.parse(answer)
    const { id, direction, messageId, message } = body.data ? Object.values<typeof body>(body.data)[0] : body
    return messageId ?? message?.id ?? (direction === 'outbound' ? id : undefined)
  } catch {
    return undefined
  }
}

/** The key was used for another request, whose response is `first`; '' while that request is running. */
export class KeyReused extends AppError {
  readonly first: string

  constructor(first: string) {
    const messageId = sentIn(first)
    super('invalid_input', 'Idempotency-Key: was used for another request', {
      field: 'Idempotency-Key',
      details: { reason: 'key_reused', ...(messageId === undefined ? {} : { messageId }) },
    })
    this.first = first
  }
}

/**
 * The row of one request with a key. Its `body` is encrypted: a random key, followed by the response.
 * `request_hash` is an HMAC of the request under that random key, which also distinguishes a reservation from
 * a later one of another request.
 */
export class IdempotencyRecord {
  readonly #deps: Deps
  readonly #viewer: Viewer
  readonly #attempt: Attempt
  readonly #key = randomBytes(KEY_BYTES)
  readonly #mark: Uint8Array<ArrayBuffer>
  #reserved = false

  constructor(deps: Deps, viewer: Viewer, attempt: Attempt) {
    this.#deps = deps
    this.#viewer = viewer
    this.#attempt = attempt
    this.#mark = Uint8Array.from(markOf(this.#key, attempt))
  }

  /**
   * Locks the key for this transaction. Resolves with the first response if there is one. Throws `conflict` while another
   * request has it locked, unless this one `waits` for that.
   */
  async take(tx: Tx, { waits } = { waits: false }): Promise<Answer | null> {
    if (waits) await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${this.#binding}, 0))::text`
    else {
      const [row] = await tx.$queryRaw<{ free: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(${this.#binding}, 0)) as free`
      if (!row?.free) throw stillRunning()
    }
    const { tokenId } = this.#viewer
    const found = await tx.idempotencyKey.findUnique({
      where: { tokenId_key: { tokenId, key: this.#attempt.key } },
    })
    if (!found || found.createdAt <= this.#expired || this.#isLeftBehind(found)) return null
    const body = await this.#bodyOf(found)
    if (found.status === RUNNING) throw stillRunning()
    return { status: found.status, body }
  }

  /** Reserves the key beyond the end of the transaction, which must not have written anything. */
  async reserve(tx: Tx): Promise<void> {
    await this.ensureUnwritten(tx)
    await this.#write(tx, { status: RUNNING, body: '' }, new Date(this.#now.getTime() + RESERVED_MS))
    this.#reserved = true
  }

  /** Throws when the transaction has written something, which a crash would leave without the rest. */
  async ensureUnwritten(tx: Tx): Promise<void> {
    const [written] = await tx.$queryRaw<
      { id: string | null }[]
    >`select pg_current_xact_id_if_assigned()::text as id`
    if (written?.id != null)
      throw new Error('a request must not write before it runs work outside its transaction')
  }

  /** Throws `unavailable` when the reservation was lost because the request took too long. */
  async ensureReserved(tx: Tx): Promise<void> {
    if ((await tx.idempotencyKey.count({ where: this.#own })) === 0) throw tookTooLong()
  }

  /** Stores the response, in the transaction of the request's own changes. */
  keep(tx: Tx, answer: Answer): Promise<void> {
    return this.#write(tx, answer, null)
  }

  /** Releases the reservation, if there is one. */
  async free(): Promise<void> {
    if (this.#reserved)
      await this.#deps.prisma.idempotencyKey.deleteMany({ where: { ...this.#own, status: RUNNING } })
  }

  get #binding(): string {
    return bindingOf(this.#viewer.tokenId, this.#attempt.key)
  }

  get #own() {
    return { tokenId: this.#viewer.tokenId, key: this.#attempt.key, requestHash: this.#mark }
  }

  get #now(): Date {
    return this.#deps.clock.now()
  }

  get #expired(): Date {
    return new Date(this.#now.getTime() - KEPT_MS)
  }

  #isLeftBehind({ status, leaseUntil }: IdempotencyKey): boolean {
    return status === RUNNING && leaseUntil !== null && leaseUntil <= this.#now
  }

  /** Returns the response in a row of this key. Throws `invalid_input` when it is another request's. */
  async #bodyOf({ requestHash, body }: IdempotencyKey): Promise<string> {
    const plain = await this.#deps.keyring.open(this.#viewer.workspaceId, body, this.#binding)
    // Rows of earlier versions contain the plain SHA-256 and only the response; they expire after 24 hours.
    if (this.#attempt.hash.equals(requestHash)) return plain.toString()
    const [key, answer] = [plain.subarray(0, KEY_BYTES), plain.subarray(KEY_BYTES)]
    if (!markOf(key, this.#attempt).equals(requestHash)) throw new KeyReused(answer.toString())
    return answer.toString()
  }

  /**
   * Writes the row in place of its reservation or an expired row. Throws when another request has taken the
   * key meanwhile.
   */
  async #write(tx: Tx, { status, body }: Answer, leaseUntil: Date | null): Promise<void> {
    const { tokenId, workspaceId } = this.#viewer
    const plain = Buffer.concat([this.#key, Buffer.from(body)])
    const sealed = Uint8Array.from(await this.#deps.keyring.seal(workspaceId, plain, this.#binding))
    const count = this.#reserved
      ? (await tx.idempotencyKey.updateMany({ where: this.#own, data: { status, body: sealed, leaseUntil } }))
          .count
      : await tx.$executeRaw`
          insert into idempotency_key as k (token_id, key, request_hash, status, body, created_at, lease_until)
          values (${tokenId}::uuid, ${this.#attempt.key}, ${this.#mark}, ${status}, ${sealed}, ${this.#now}, ${leaseUntil})
          on conflict (token_id, key) do update
            set request_hash = excluded.request_hash, status = excluded.status, body = excluded.body,
                created_at = excluded.created_at, lease_until = excluded.lease_until
            where k.created_at <= ${this.#expired} or (k.status = ${RUNNING} and k.lease_until <= ${this.#now})`
    if (count === 0) throw this.#reserved ? tookTooLong() : stillRunning()
  }
}

/** All responses, for the rotation of data keys; `bound` must equal the result of `bindingOf`. */
export const SEALED_ANSWERS: SealedColumn = {
  name: 'idempotency_key.body',
  first: [NIL, ''],
  page: `
    select array[k.token_id::text, k.key] as at, k.body as sealed, format('idempotency:%s:%s', k.token_id, k.key) as bound
      from idempotency_key k join token t on t.id = k.token_id
     where t.workspace_id = $1 and (k.token_id, k.key) > (($2::text[])[1]::uuid, ($2::text[])[2])
     order by k.token_id, k.key limit $3`,
  replace: `update idempotency_key set body = $3 where token_id = ($1::text[])[1]::uuid and key = ($1::text[])[2] and body = $2`,
}
