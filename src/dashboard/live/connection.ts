import { type Client, createClient } from 'graphql-sse'
import type { Change } from './change.ts'
import { OWN_HEADERS } from './client.ts'
import { followWorkspace } from './subscriptions.ts'

/** The service writes at least every 15 seconds; a stream that is silent for longer has broken unnoticed. */
const SILENT_MS = 40_000
/** After the page was hidden or the machine asleep, a shorter silence is suspicious already. */
const SUSPICIOUS_MS = 20_000
const CHECK_MS = 5_000
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

export interface Hearing {
  tell(changes: readonly Change[]): void
  status(state: 'connecting' | 'live' | 'waiting'): void
  /** The session has ended. */
  signedOut(): void
}

/** Fetches like `fetch`, and calls `heard` whenever something of the answer arrives. */
const listening =
  (heard: () => void): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!response.body) return response
    heard()
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        heard()
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(tap), response)
  }

/**
 * The event stream of this browser: opened again whenever it breaks, at once when the network or the page comes
 * back, otherwise after longer and longer pauses.
 */
export class Connection {
  readonly #hearing: Hearing
  #sse: Client<true> | null = null
  #unfollow: (() => void) | null = null
  #heardAt = 0
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(hearing: Hearing) {
    this.#hearing = hearing
    setInterval(() => this.#checkSilence(SILENT_MS), CHECK_MS)
    addEventListener('online', () => this.wake())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.wake()
    })
    void this.#open()
  }

  /** Opens the stream now if it is not open, or may have broken. */
  wake(): void {
    if (this.#sse) this.#checkSilence(SUSPICIOUS_MS)
    else void this.#open()
  }

  #checkSilence(limit: number): void {
    if (this.#sse && Date.now() - this.#heardAt > limit) {
      this.#close()
      void this.#open()
    }
  }

  async #open(): Promise<void> {
    clearTimeout(this.#retry)
    this.#hearing.status('connecting')
    this.#heardAt = Date.now()
    const sse = createClient({
      url: '/graphql/stream',
      singleConnection: true,
      headers: OWN_HEADERS,
      retryAttempts: 0,
      fetchFn: listening(() => {
        this.#heardAt = Date.now()
      }),
      on: { connected: () => this.#opened(sse) },
    })
    this.#sse = sse
    const unfollow = await followWorkspace(sse, {
      tell: (changes) => this.#hearing.tell(changes),
      end: (code) => this.#ended(sse, code),
    })
    if (this.#sse === sse) this.#unfollow = unfollow
    else unfollow()
  }

  #opened(sse: Client<true>): void {
    if (this.#sse !== sse) return
    this.#failures = 0
    this.#hearing.status('live')
    this.#hearing.tell([{ topic: 'all' }])
  }

  #ended(sse: Client<true>, code: string | null): void {
    if (this.#sse !== sse) return
    this.#close()
    if (code === 'unauthorized') {
      this.#hearing.signedOut()
      return
    }
    this.#hearing.status('waiting')
    const pause = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LAST_RETRY_MS)
    this.#retry = setTimeout(() => void this.#open(), pause * (0.5 + Math.random() / 2))
  }

  #close(): void {
    const sse = this.#sse
    this.#sse = null
    this.#unfollow?.()
    this.#unfollow = null
    sse?.dispose()
  }
}
