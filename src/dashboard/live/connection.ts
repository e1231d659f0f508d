import { createClient, NetworkError } from 'graphql-sse'
import type { Change } from './change.ts'
import { OWN_HEADERS } from './client.ts'
import { changesOf, type Result, SUBSCRIPTION } from './subscriptions.ts'

/** The service writes at least every 15 seconds; a stream that is silent for longer has broken unnoticed. */
const SILENT_MS = 40_000
/** After the page was hidden or the machine asleep, a shorter silence is suspicious already. */
const SUSPICIOUS_MS = 20_000
const CHECK_MS = 5_000
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

export interface Hearing {
  /** Where to go on; null to start now. */
  position(): string | null
  /** Tells of changes, and where to go on after them. */
  tell(changes: readonly Change[], position: string): void
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

/** Returns the code of the API's error; null if the connection broke. */
const codeOf = (error: unknown): string | null => {
  if (error instanceof NetworkError) return error.response?.status === 401 ? 'unauthorized' : null
  const [first] = Array.isArray(error) ? error : []
  return (first as { extensions?: { code?: string } } | undefined)?.extensions?.code ?? null
}

/**
 * The event stream of this browser: opened again whenever it breaks, at once when the network or the page comes
 * back, otherwise after longer and longer pauses.
 */
export class Connection {
  readonly #hearing: Hearing
  /** Ends the open stream; null while there is none. */
  #close: (() => void) | null = null
  #heardAt = 0
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(hearing: Hearing) {
    this.#hearing = hearing
    setInterval(() => this.#checkSilence(SILENT_MS), CHECK_MS)
    addEventListener('online', () => this.wake())
    addEventListener('offline', () => this.#reopen())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.wake()
    })
    this.#open()
  }

  /** Opens the stream now if it is not open, or may have broken. */
  wake(): void {
    if (this.#close) this.#checkSilence(SUSPICIOUS_MS)
    else this.#open()
  }

  #checkSilence(limit: number): void {
    if (Date.now() - this.#heardAt > limit) this.#reopen()
  }

  /** Finds out whether an open stream still works: without a network, one to the same machine does. */
  #reopen(): void {
    if (!this.#close) return
    this.#close()
    this.#open()
  }

  #open(): void {
    clearTimeout(this.#retry)
    this.#hearing.status('connecting')
    this.#heardAt = Date.now()
    const sse = createClient({
      url: '/graphql',
      headers: () => ({ ...OWN_HEADERS }),
      retryAttempts: 0,
      fetchFn: listening(() => {
        this.#heardAt = Date.now()
      }),
    })
    let isOpen = true
    let isFirst = true
    const end = (code: string | null): void => {
      if (!isOpen) return
      this.#close?.()
      this.#ended(code)
    }
    const after = this.#hearing.position()
    sse.subscribe<Result>(
      { query: SUBSCRIPTION, variables: { after } },
      {
        next: ({ data, errors }) => {
          if (isOpen && data) this.#heard(data, isFirst && after === null)
          isFirst = false
          if (errors) end(codeOf(errors))
        },
        error: (error) => end(codeOf(error)),
        complete: () => end(null),
      },
    )
    this.#close = () => {
      isOpen = false
      this.#close = null
      sse.dispose()
    }
  }

  #heard(data: Result, isStart: boolean): void {
    this.#failures = 0
    this.#hearing.status('live')
    // What is shown may have been read before the position at which the stream starts.
    const changes: Change[] = isStart ? [{ topic: 'all' }] : changesOf(data)
    this.#hearing.tell(changes, data.workspaceChanged.position)
  }

  #ended(code: string | null): void {
    if (code === 'unauthorized') {
      this.#hearing.signedOut()
      return
    }
    this.#hearing.status('waiting')
    const pause = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LAST_RETRY_MS)
    this.#retry = setTimeout(() => this.#open(), pause * (0.5 + Math.random() / 2))
  }
}
