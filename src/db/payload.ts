/**
 * Payloads of notifications: `[instance, topic, key, key, …]` as JSON. Where keys tell more than that they changed, the first
 * element is `[instance, sealed]`: a release that does not know of it looks at the keys alone, and reads as it always did.
 */

/** PostgreSQL refuses a payload of 8000 bytes. */
const PAYLOAD_BYTES = 7900

/**
 * Encrypts what notifications tell, and proves that this service wrote it: every role of a database may listen and notify,
 * also one that may read no table (docs/decisions.md#told-events).
 */
export interface Cipher {
  /** `bound`: what it is sealed for. */
  seal(plain: string, bound: string): Buffer
  /** Throws when it was sealed by anyone else, or for something else. */
  open(sealed: Buffer, bound: string): string
}

/** Keys, and what each tells: JSON values in the order in which they were published; null where it must be read. */
export type Keys = ReadonlyMap<string, readonly string[] | null>

/** The most that a cipher adds, in bytes. */
const SEAL_BYTES = 32
/** Length of what is sealed as Base64 in JSON, with what is around it. */
const sealedLength = (plain: number): number => Math.ceil((plain + SEAL_BYTES) / 3) * 4 + 8

/** Items, each after a comma, that begin with a head. */
class Items {
  text = ''
  bytes = 0

  add(item: string, bytes = Buffer.byteLength(item)): void {
    this.text += `,${item}`
    this.bytes += bytes + 1
  }
}

/** Packs topics and their keys into few payloads below the size limit. Without a cipher, keys tell nothing. */
export const packPayloads = (
  instance: string,
  topics: ReadonlyMap<string, Keys>,
  cipher: Cipher | null = null,
): string[] => [...topics].flatMap(([topic, keys]) => new Packer(instance, topic, cipher).pack(keys))

class Packer {
  readonly #instance: string
  readonly #topic: string
  readonly #cipher: Cipher | null
  /** Bytes of a payload that are left for keys and what they tell. */
  readonly #room: number
  readonly #payloads: string[] = []
  /** Keys that tell nothing; those that do, and what they tell. */
  #untold = new Items()
  #names = new Items()
  #told = new Items()

  constructor(instance: string, topic: string, cipher: Cipher | null) {
    this.#instance = instance
    this.#topic = topic
    this.#cipher = cipher
    this.#room = PAYLOAD_BYTES - Buffer.byteLength(JSON.stringify([instance, topic])) - 1
  }

  pack(keys: Keys): string[] {
    for (const [key, texts] of keys) {
      const name = JSON.stringify(key)
      const told = texts === null || this.#cipher === null ? null : `[${texts.join()}]`
      if (told === null || !this.#tell(name, told)) this.#name(name)
    }
    this.#flushTold()
    this.#flushUntold()
    return this.#payloads
  }

  #name(name: string): void {
    const bytes = Buffer.byteLength(name)
    if (this.#untold.bytes + bytes + 1 > this.#room) this.#flushUntold()
    this.#untold.add(name, bytes)
  }

  /** Returns false when it is too much for one notification. */
  #tell(name: string, told: string): boolean {
    const [nameBytes, toldBytes] = [Buffer.byteLength(name) + 1, Buffer.byteLength(told) + 1]
    if (nameBytes + sealedLength(toldBytes) > this.#room) return false
    if (this.#names.bytes + nameBytes + sealedLength(this.#told.bytes + toldBytes) > this.#room)
      this.#flushTold()
    this.#names.add(name, nameBytes - 1)
    this.#told.add(told, toldBytes - 1)
    return true
  }

  #flushUntold(): void {
    if (this.#untold.bytes > 0) this.#push(this.#instance, this.#untold)
    this.#untold = new Items()
  }

  #flushTold(): void {
    if (this.#told.bytes > 0) {
      const sealed = this.#cipher!.seal(`[${this.#told.text.slice(1)}]`, this.#payload(null, this.#names))
      this.#push([this.#instance, sealed.toString('base64')], this.#names)
    }
    this.#names = new Items()
    this.#told = new Items()
  }

  #push(head: string | [string, string], names: Items): void {
    this.#payloads.push(this.#payload(head, names))
  }

  #payload(head: string | [string, string] | null, names: Items): string {
    return `${JSON.stringify([head, this.#topic]).slice(0, -1)}${names.text}]`
  }
}

/** A received payload. */
export interface Payload {
  topic: string
  keys: readonly string[]
  told: Told | null
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
  const told =
    typeof head === 'string' || cipherOf === null
      ? null
      : new Told({ topic, keys }, head[1], cipherOf(head[0]))
  return { topic, keys, told }
}

/** What the keys of a payload tell. It is opened when it is asked for: most payloads concern no one in a process. */
export class Told {
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

  /** Returns what a key tells, in the order in which it was published; null when it must be read. */
  of(key: string): unknown[] | null {
    const place = this.#keys.indexOf(key)
    return (place >= 0 && (this.#open()[place] as unknown[] | undefined)) || null
  }

  #open(): unknown[] {
    try {
      // Of exactly this payload: nobody can tell one agent what happened to another.
      const bound = JSON.stringify([null, this.#topic, ...this.#keys])
      this.#opened ??= JSON.parse(this.#cipher.open(Buffer.from(this.#sealed, 'base64'), bound)) as unknown[]
    } catch {
      this.#opened = [] // of a process with another key, or of nobody of this service
    }
    return this.#opened
  }
}
