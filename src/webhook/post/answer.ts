/** What is stored of a receiver's response. It is untrusted: shown as text only. */
export interface Answer {
  /** Names in lower case and values. */
  headers: [string, string][]
  /** The first KiB; null if it is empty, or compressed. */
  body: string | null
}

const MAX_BODY_BYTES = 1024
const MAX_HEADERS = 20
const MAX_VALUE = 200
const MAX_NAME = 60

/** Headers of the connection, which say nothing about the delivery, and those that may contain credentials. */
const LEFT_OUT = new Set([
  ...[
    'date',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'alt-svc',
    'server-timing',
    'nel',
    'report-to',
  ],
  ...['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate', 'authentication-info'],
])

/** PostgreSQL's jsonb cannot store NUL and lone surrogates. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** Collects the beginning of a response while it is read. */
export class AnswerReader {
  readonly #headers: [string, string][] = []
  #chunks: Buffer[] = []
  #bytes = 0
  #compressed = false

  headers(given: Record<string, string | string[] | undefined>): void {
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || LEFT_OUT.has(name) || this.#headers.length === MAX_HEADERS) continue
      if (name === 'content-encoding' && value !== 'identity') this.#compressed = true
      this.#headers.push([storable(name.slice(0, MAX_NAME)), storable(String(value).slice(0, MAX_VALUE))])
    }
  }

  data(chunk: Buffer): void {
    if (this.#bytes >= MAX_BODY_BYTES || this.#compressed) return
    const kept = chunk.subarray(0, MAX_BODY_BYTES - this.#bytes)
    // A copy: the chunk's buffer belongs to the connection.
    this.#chunks.push(Buffer.from(kept))
    this.#bytes += kept.length
  }

  /** Forgets what was read of a response, before the request is repeated. */
  reset(): void {
    this.#headers.length = 0
    this.#chunks = []
    this.#bytes = 0
    this.#compressed = false
  }

  get answer(): Answer {
    const body = this.#bytes === 0 ? null : textOf(Buffer.concat(this.#chunks))
    return { headers: this.#headers, body }
  }
}

const storable = (text: string): string => text.replace(UNSTORABLE, '\ufffd')

/** Decodes UTF-8, without a character that the limit cut in two. */
const textOf = (bytes: Buffer): string =>
  storable(new TextDecoder().decode(bytes, { stream: bytes.length === MAX_BODY_BYTES }))
