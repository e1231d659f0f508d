import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { hashToken } from '../../workspace/index.ts'
import { publishedMetadata } from './client-metadata.ts'

export interface ClientDocumentDeps extends Pick<Db, 'pool'> {
  clock: Clock
  log: Logger
  /** Whether a document may be fetched now, for the request that needs it. */
  mayFetch(): boolean
  /** Fetches a document from the public internet, over a connection that cannot reach the operator's network. */
  get(url: string): Promise<Buffer>
}

const KIND = 'ClientDocument'
const FRESH_MS = 300_000
/** While a client's server is down, members who connected it are not cut off for this long. */
const USABLE_MS = 7 * 24 * 3_600_000
/** Document that describes a client: more than any real one has; the draft suggests 5 KB. @limit OAuth */
const MAX_BYTES = 20 * 1024

interface Row {
  payload: { text: string; fetchedAt: number }
}

const FIND = `select payload from oauth_record where hash = $1 and kind = '${KIND}' and expires_at > $2`
const STORE = `insert into oauth_record (kind, hash, payload, expires_at) values ('${KIND}', $1, $2::jsonb, $3)
  on conflict (hash, kind) do update set payload = excluded.payload, expires_at = excluded.expires_at`

/**
 * The documents at URLs of clients: their metadata, and their keys. All processes share what was fetched
 * within the last five minutes, and use it longer while it cannot be fetched again, or not now.
 */
export class ClientDocuments {
  readonly #deps: ClientDocumentDeps

  constructor(deps: ClientDocumentDeps) {
    this.#deps = deps
  }

  /** Returns the library's `fetch`. Rejects with an error for the log when the document cannot be had. */
  fetch = async (url: string | URL | Request): Promise<Response> => {
    const address = url instanceof Request ? url.url : String(url)
    const text = await this.#textOf(address)
    // Read by the library once, which keeps it for a minute.
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }

  async #textOf(url: string): Promise<string> {
    const stored = await this.#find(url)
    if (stored && this.#isFresh(stored)) return stored.text
    try {
      const text = await this.#download(url)
      await this.#store(url, text)
      return text
    } catch (error) {
      if (!stored) throw error
      this.#deps.log.warn({ url, error: messageOf(error) }, 'using the stored document of an OAuth client')
      return stored.text
    }
  }

  async #download(url: string): Promise<string> {
    if (!this.#deps.mayFetch()) throw new Error('too many documents of OAuth clients are fetched')
    const bytes = await this.#deps.get(url)
    if (bytes.length > MAX_BYTES) throw new Error(`the document is longer than ${MAX_BYTES} bytes`)
    const given: unknown = JSON.parse(bytes.toString())
    if (typeof given !== 'object' || given === null) throw new Error('the document is not a JSON object')
    return JSON.stringify('keys' in given ? { keys: given.keys } : publishedMetadata({ ...given }))
  }

  async #find(url: string): Promise<Row['payload'] | undefined> {
    const { pool, clock } = this.#deps
    const { rows } = await pool.query<Row>(FIND, [hashToken(url), clock.now()])
    return rows[0]?.payload
  }

  #isFresh({ fetchedAt }: Row['payload']): boolean {
    return fetchedAt + FRESH_MS > this.#deps.clock.now().getTime()
  }

  async #store(url: string, text: string): Promise<void> {
    const { pool, clock } = this.#deps
    const now = clock.now().getTime()
    const payload = JSON.stringify({ text, fetchedAt: now })
    await pool.query(STORE, [hashToken(url), payload, new Date(now + USABLE_MS)])
  }
}
