import { AppError } from '../../core/errors.ts'
import type { Arrival } from '../../core/http/arrivals.ts'
import { MemoryShare } from '../../core/http/memory-share.ts'
import { type Slot, TransferSlots } from '../../core/http/transfer-slots.ts'
import type { Wait } from '../reading/mail-reader.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { SpoolFile, StorageFullError } from './spool.ts'

const busy = (message: string) => new AppError('unavailable', message, { retryAfter: 30 })
const tooManyLong = () => busy('Too many long messages at once, try again later')

/** What the messages that arrive have together. */
interface Room {
  folder: string
  limits: SmtpLimits
  /** Bytes of short messages, which are in memory, and of long ones, which are on disk. */
  memory: MemoryShare
  disk: MemoryShare
  /** Places in memory for long messages that are complete. */
  places: TransferSlots
}

/**
 * Collects the messages that arrive over SMTP and HTTP. Short ones stay in memory, of which they share a part; a
 * longer one is on disk until it is complete. Only then does it wait for a place in memory, so that nobody holds one
 * by sending slowly.
 */
export class Intake {
  readonly #room: Room

  constructor(folder: string, limits: SmtpLimits) {
    const { keepBytesPerSecond, tickMs: reviewMs } = limits
    const share = (total: number, perSource: number) =>
      new MemoryShare({ total, perSource, keepBytesPerSecond })
    this.#room = {
      folder,
      limits,
      memory: share(limits.shortMailBytes, limits.shortMailBytesPerSource),
      disk: share(limits.spoolBytes, limits.spoolBytesPerSource),
      places: new TransferSlots({
        ...{ total: limits.largeMails, totalBytes: limits.largeMailBytes },
        ...{ perSource: limits.largeMailsPerSource, keepBytesPerSecond, reviewMs },
      }),
    }
  }

  /** Begins a message, which must be ended once it is stored or refused. */
  begin(arrival: Arrival, source: string): ArrivingMail {
    return new ArrivingMail(this.#room, arrival, source)
  }
}

/** A message that arrives, and what it occupies. */
export class ArrivingMail {
  readonly #room: Room
  readonly #arrival: Arrival
  readonly #source: string
  #pieces: Uint8Array[] = []
  #file: SpoolFile | null = null
  #slot: Slot | null = null
  #bytes = 0

  constructor(room: Room, arrival: Arrival, source: string) {
    this.#room = room
    this.#arrival = arrival
    this.#source = source
  }

  /** Throws `unavailable` when there is no room for it; nothing may be added after that. */
  async add(chunk: Uint8Array): Promise<void> {
    const { memory, disk, folder, limits } = this.#room
    this.#bytes += chunk.length
    if (this.#file === null && this.#bytes <= limits.smallBytes) {
      if (!memory.add(this.#arrival, this.#source, chunk.length))
        throw busy('Too much mail at once, try again later')
      this.#pieces.push(chunk)
      return
    }
    if (!disk.add(this.#arrival, this.#source, this.#file === null ? this.#bytes : chunk.length))
      throw new StorageFullError('unavailable', 'Too many long messages at once, try again later')
    this.#file ??= await SpoolFile.create(folder)
    for (const piece of [...this.#pieces.splice(0), chunk]) await this.#file.add(piece)
    memory.leave(this.#arrival)
  }

  /**
   * Returns the whole message in shared memory, which the reader's threads use without another copy. A long one
   * waits for its place first. Throws `unavailable` if there is none in time, or when `wait` is given up.
   */
  async finish(wait: Wait): Promise<Buffer> {
    this.#arrival.end()
    const file = this.#file
    if (file === null) return together(this.#pieces)
    this.#slot = await this.#place(wait)
    if (this.#slot === null) throw tooManyLong()
    const raw = await file.read()
    await this.#removeFile()
    return raw
  }

  /** Frees everything that it occupies. */
  async end(): Promise<void> {
    this.#arrival.end()
    this.#pieces = []
    this.#room.memory.leave(this.#arrival)
    this.#slot?.leave()
    await this.#removeFile()
  }

  async #removeFile(): Promise<void> {
    this.#room.disk.leave(this.#arrival)
    const file = this.#file
    this.#file = null
    await file?.close()
  }

  async #place(wait: Wait): Promise<Slot | null> {
    const { places, limits } = this.#room
    const entering = places.enter(this.#arrival, this.#source, limits.waitMs, this.#bytes)
    const givenUp = new Promise<null>((resolve) => {
      wait.giveUp = () => {
        resolve(null)
        void entering.then((slot) => slot?.leave())
      }
    })
    const slot = await Promise.race([entering, givenUp])
    wait.giveUp = null
    return slot
  }
}

const together = (pieces: readonly Uint8Array[]): Buffer => {
  const whole = Buffer.from(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
