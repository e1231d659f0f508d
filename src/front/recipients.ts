import { domainOf } from '../core/address/email-address.ts'
import type { Key } from '../core/cell.ts'
import { recipientCandidates } from '../mail/index.ts'
import type { Cell } from './cells.ts'
import type { Directory } from './directory.ts'

/** Where a recipient is. Not sure if an installation that does not answer may have the address. */
export interface Found {
  readonly cell: Cell
  readonly isSure: boolean
}

/** Finds the installations of the recipients of mail. */
export class Recipients {
  readonly #directory: Directory

  constructor(directory: Directory) {
    this.#directory = directory
  }

  /** The installation of a recipient; null if there is none. Throws `unavailable` when one that does not answer may be it. */
  async find(recipient: string): Promise<Found | null> {
    const asked = this.#keysOf(recipient).map((key) => this.#directory.find(key))
    const answers = await Promise.allSettled(asked)
    const unsure = answers.find(({ status }) => status === 'rejected')
    const cell = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))[0]?.cell
    if (cell) return { cell, isSure: unsure === undefined }
    if (unsure) await Promise.all(asked)
    return null
  }

  /** Finds it again, because its installation has refused it: it may have moved since the lookup, or be moving now. */
  findAgain(recipient: string): Promise<Found | null> {
    for (const key of this.#keysOf(recipient)) this.#directory.forget(key)
    return this.find(recipient)
  }

  /** The keys of a recipient: its address with and without a tag, and its domain, whose installation knows catch-alls and roles. */
  #keysOf(recipient: string): Key[] {
    const candidates = recipientCandidates(recipient)
    const [first] = candidates
    return first === undefined
      ? []
      : [...candidates.map((each): Key => `address:${each}`), `domain:${domainOf(first)}` as const]
  }
}
