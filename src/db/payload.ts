/**
 * Payloads of notifications: `[instance, topic, key, key, …]` as JSON. If the keys have contents, the first element is
 * `[instance, sealed]`: a release that does not know of contents looks at the keys alone, and reads the database.
 */

/** PostgreSQL refuses a payload of 8000 bytes. */
const PAYLOAD_BYTES = 7900

/**
 * Encrypts and authenticates the contents of notifications: every role of a database may listen and notify, also one that may read
 * no table (docs/decisions.md#events-in-notifications).
 */
export interface Cipher {
  /** `bound` is authenticated too. */
  seal(plain: string, bound: string): Buffer
  /** Throws when it was sealed with another key, or for another `bound`. */
  open(sealed: Buffer, bound: string): string
}

/** Keys, each with its content: JSON values in the order in which they were published; null where the database must be read. */
export type Keys = ReadonlyMap<string, readonly string[] | null>

/** The most that a cipher adds, in bytes. */
const SEAL_BYTES = 32
/** Length of sealed text as Base64 in JSON, with its delimiters. */
const sealedLength = (plain: number): number => Math.ceil((plain + SEAL_BYTES) / 3) * 4 + 8

/** JSON values, each after a comma. */
class Items {
  text = ''
  bytes = 0

  add(item: string, bytes: number): void {
    this.text += `,${item}`
    this.bytes += bytes + 1
  }
}

/** Packs topics and their keys into few payloads below the size limit. Without a cipher, keys have no contents. */
export const packPayloads = (
  instance: string,
  topics: ReadonlyMap<string, Keys>,
  cipher: Cipher | null = null,
): string[] => [...topics].flatMap(([topic, keys]) => new Packer(instance, topic, cipher).pack(keys))

class Packer {
  readonly #instance: string
  readonly #topic: string
  readonly #cipher: Cipher | null
  /** Bytes of a payload that are left for keys and their contents. */
  readonly #maxBytes: number
  readonly #payloads: string[] = []
  /** Keys without contents. */
  #keys = new Items()
  /** Keys with contents. */
  #sealedKeys = new Items()
  #contents = new Items()

  constructor(instance: string, topic: string, cipher: Cipher | null) {
    this.#instance = instance
    this.#topic = topic
    this.#cipher = cipher
    this.#maxBytes = PAYLOAD_BYTES - Buffer.byteLength(JSON.stringify([instance, topic])) - 1
  }

  pack(keys: Keys): string[] {
    for (const [key, values] of keys) {
      const name = JSON.stringify(key)
      const content = values === null || this.#cipher === null ? null : `[${values.join()}]`
      if (content === null || !this.#addWithContent(name, content)) this.#add(name)
    }
    this.#flushContents()
    this.#flushKeys()
    return this.#payloads
  }

  #add(name: string): void {
    const bytes = Buffer.byteLength(name)
    if (this.#keys.bytes + bytes + 1 > this.#maxBytes) this.#flushKeys()
    this.#keys.add(name, bytes)
  }

  /** Returns false when it is too large for a notification. */
  #addWithContent(name: string, content: string): boolean {
    const [nameBytes, contentBytes] = [Buffer.byteLength(name), Buffer.byteLength(content)]
    const fits = (keys: number, contents: number) =>
      keys + nameBytes + 1 + sealedLength(contents + contentBytes + 1) <= this.#maxBytes
    if (!fits(0, 0)) return false
    if (!fits(this.#sealedKeys.bytes, this.#contents.bytes)) this.#flushContents()
    this.#sealedKeys.add(name, nameBytes)
    this.#contents.add(content, contentBytes)
    return true
  }

  #flushKeys(): void {
    if (this.#keys.bytes > 0) this.#payloads.push(this.#payload(this.#instance, this.#keys))
    this.#keys = new Items()
  }

  #flushContents(): void {
    if (this.#contents.bytes > 0) {
      const plain = `[${this.#contents.text.slice(1)}]`
      const sealed = this.#cipher!.seal(plain, this.#payload(null, this.#sealedKeys))
      this.#payloads.push(this.#payload([this.#instance, sealed.toString('base64')], this.#sealedKeys))
    }
    this.#sealedKeys = new Items()
    this.#contents = new Items()
  }

  #payload(head: string | [string, string] | null, keys: Items): string {
    return `${JSON.stringify([head, this.#topic]).slice(0, -1)}${keys.text}]`
  }
}

/** A received payload. */
export interface Payload {
  topic: string
  keys: readonly string[]
  contents: Contents | null
}

/** Returns a payload; null for one of `own`, the instance itself. */
export const readPayload = (
  payload: string,
  own: string,
  cipherOf: ((instance: string) => Cipher) | null,
): Payload | null => {
  const name = JSON.stringify(own)
  if (payload.startsWith(`[${name},`) || payload.startsWith(`[[${name},`)) return null
  const [head, topic, ...keys] = JSON.parse(payload) as [string | [string, string], string, ...string[]]
  const contents =
    typeof head === 'string' || cipherOf === null
      ? null
      : new Contents({ topic, keys }, head[1], cipherOf(head[0]))
  return { topic, keys, contents }
}

/** The contents of a notification. They are decrypted only when they are needed: most concern no one in a process. */
export class Contents {
  readonly #topic: string
  readonly #keys: readonly string[]
  readonly #sealed: string
  readonly #cipher: Cipher
  #opened: unknown[] | undefined

  constructor({ topic, keys }: { topic: string; keys: readonly string[] }, sealed: string, cipher: Cipher) {
    this.#topic = topic
    this.#keys = keys
    this.#sealed = sealed
    this.#cipher = cipher
  }

  /** Returns the content of a key, in the order in which it was published; null when the database must be read. */
  of(key: string): unknown[] | null {
    const index = this.#keys.indexOf(key)
    return (index >= 0 && (this.#open()[index] as unknown[] | undefined)) || null
  }

  #open(): unknown[] {
    try {
      // Bound to exactly these keys, so that nobody can pass one agent's events off as another's.
      const bound = JSON.stringify([null, this.#topic, ...this.#keys])
      this.#opened ??= JSON.parse(this.#cipher.open(Buffer.from(this.#sealed, 'base64'), bound)) as unknown[]
    } catch {
      this.#opened = [] // from a process with another master key, or forged
    }
    return this.#opened
  }
}
