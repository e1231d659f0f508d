import { randomInt } from 'node:crypto'
import { EVERYTHING, type Unread } from './characters.ts'

/** Longest part of a text that is looked up. */
export const MAX_LENGTH = 512

/** The factors of the hashes, which no other process knows. */
const factor = (): number => randomInt(1 << 20, 0x7fff_ffff) | 1
const powersOf = (base: number): Int32Array => {
  const powers = new Int32Array(MAX_LENGTH + 1).fill(1)
  for (let at = 1; at <= MAX_LENGTH; at++) powers[at] = Math.imul(powers[at - 1]!, base)
  return powers
}
const [BASE, SECOND] = [factor(), factor()]
const POWERS = powersOf(BASE)
const SECOND_POWERS = powersOf(SECOND)

const sumsOf = ({ units, table }: Unread, base: number): Int32Array => {
  const sums = new Int32Array(units.length + 1)
  let [sum, count] = [0, 0]
  const { length } = units
  for (let at = 0; at < length; at++) {
    const code = table[units[at]!]!
    if (code === 0) continue
    sum = (Math.imul(sum, base) + code) | 0
    sums[++count] = sum
  }
  return sums.subarray(0, count + 1)
}

/** A row of characters, the hash of each part of which is known at once. */
export class HashedText {
  readonly length: number
  readonly #text: Unread
  readonly #sums: Int32Array
  #second: Int32Array | undefined

  constructor(text: Unread) {
    this.#text = text
    this.#sums = sumsOf(text, BASE)
    this.length = this.#sums.length - 1
  }

  /** Of characters of which all count. */
  static of(characters: Uint16Array): HashedText {
    return new HashedText({ units: characters, table: EVERYTHING })
  }

  /** Hash of `length` characters from `start` on, in 32 bits. */
  hash(start: number, length: number): number {
    return (this.#sums[start + length]! - Math.imul(this.#sums[start]!, POWERS[length]!)) | 0
  }

  /** The same in 52 bits. */
  fullHash(start: number, length: number): number {
    this.#second ??= sumsOf(this.#text, SECOND)
    const second = this.#second
    const other = (second[start + length]! - Math.imul(second[start]!, SECOND_POWERS[length]!)) | 0
    return (this.hash(start, length) >>> 0) * 0x10_0000 + (other >>> 12)
  }

  /** Calls back for each part of this length whose hash may be in a filter. */
  eachIn(length: number, { bits, shift }: Filter, found: (start: number, hash: number) => void): void {
    const sums = this.#sums
    const power = POWERS[length]!
    const last = sums.length - length
    for (let start = 0; start < last; start++) {
      const hash = (sums[start + length]! - Math.imul(sums[start]!, power)) | 0
      const place = hash >>> shift
      if ((bits[place >>> 5]! >>> (place & 31)) & 1) found(start, hash)
    }
  }
}

/** A set of hashes in which some others seem to be, too: a bit for the upper bits of each. */
export class Filter {
  readonly bits: Int32Array
  readonly shift: number

  constructor(most: number) {
    const size = Math.min(22, Math.max(13, Math.ceil(Math.log2(most * 48))))
    this.bits = new Int32Array(2 ** (size - 5))
    this.shift = 32 - size
  }

  add(hash: number): void {
    const place = hash >>> this.shift
    this.bits[place >>> 5]! |= 1 << (place & 31)
  }
}

/** Of a part of a text, its hash with its length. */
export const keyOf = (hash: number, length: number): number => (hash ^ Math.imul(length, 0x9e37_79b1)) | 0

/** A set of 32-bit numbers in little memory. */
export class NumberSet {
  readonly #slots: Int32Array
  readonly #mask: number
  readonly #shift: number
  #hasZero = false

  constructor(most: number) {
    const bits = Math.ceil(Math.log2(Math.max(16, most * 2)))
    this.#slots = new Int32Array(2 ** bits)
    this.#mask = this.#slots.length - 1
    this.#shift = 32 - bits
  }

  get bytes(): number {
    return this.#slots.byteLength
  }

  /** Where the number is, or would be. */
  #at(value: number): number {
    let at = Math.imul(value, 0x85eb_ca6b) >>> this.#shift
    while (this.#slots[at & this.#mask] !== 0 && this.#slots[at & this.#mask] !== value) at++
    return at & this.#mask
  }

  add(value: number): void {
    if (value === 0) this.#hasZero = true
    else this.#slots[this.#at(value)] = value
  }

  has(value: number): boolean {
    return value === 0 ? this.#hasZero : this.#slots[this.#at(value)] === value
  }
}
