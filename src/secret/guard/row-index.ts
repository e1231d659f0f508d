import { isFoundInParts, SHORT } from './guarded.ts'
import { Filter, HashedText, keyOf, MAX_LENGTH, NumberSet } from './hashed-text.ts'

/** A form of a value of the secret with this index. */
export interface Indexed {
  secret: number
  characters: Uint16Array
}

/** Which field of a message parts of values were found in, by the keys of the parts. */
type Marks = Map<number, number>

/** What was found of the secrets so far: for each of them the fields. */
export type Found = Map<number, Set<number>>

/** A value's hashes: of each beginning and each end of it, by their lengths. */
interface Hashed {
  secret: number
  length: number
  inParts: boolean
  starts: Int32Array
  ends: Int32Array
}

const hashedOf = ({ secret, characters }: Indexed): Hashed => {
  const [text, { length }] = [HashedText.of(characters), characters]
  const starts = Int32Array.from({ length: length + 1 }, (_, size) => keyOf(text.hash(0, size), size))
  const ends = Int32Array.from({ length: length + 1 }, (_, size) =>
    keyOf(text.hash(length - size, size), size),
  )
  return { secret, length, inParts: isFoundInParts(String.fromCharCode(...characters)), starts, ends }
}

/** What a message contains of the values of an index, from several texts. */
export interface Search {
  starts: Marks
  ends: Marks
  /** Beginnings of values in texts that are so long that parts of these values are there by chance. */
  wholes: Marks
  /** Short texts, in which the last few characters of a value are looked for. */
  texts: { text: HashedText; field: number }[]
}
export const newSearch = (): Search => ({
  starts: new Map(),
  ends: new Map(),
  wholes: new Map(),
  texts: [],
})

/**
 * Values and their forms in one row, which are looked for by so many characters that they begin or end with. Keeps
 * hashes of their parts, not the values. The beginnings of all values are in one set: however many values begin like a
 * text, the longest of their beginnings is found by bisection.
 */
export class RowIndex {
  readonly #anchor: number
  readonly #plain: readonly Hashed[]
  readonly #starts: NumberSet
  readonly #ends: NumberSet
  /** For each anchor, the lengths of the forms that begin with it; and the secret of each form by its hash. */
  readonly #lengths = new Map<number, Set<number>>()
  readonly #others = new Map<number, number>()
  /** All anchors, and the ends of the same length. */
  readonly #filter: Filter
  readonly #anchors: NumberSet

  constructor(anchor: number, plain: readonly Indexed[], others: readonly Indexed[]) {
    this.#anchor = anchor
    this.#plain = plain.map(hashedOf)
    const parts = plain.reduce((sum, { characters }) => sum + characters.length, 0)
    this.#starts = new NumberSet(parts)
    this.#ends = new NumberSet(parts)
    this.#filter = new Filter(plain.length * 2 + others.length)
    this.#anchors = new NumberSet(plain.length * 2 + others.length)
    for (const { characters } of plain) this.#addPlain(HashedText.of(characters))
    for (const { length, starts, ends } of this.#plain)
      for (let size = anchor; size <= length; size++) {
        this.#starts.add(starts[size]!)
        this.#ends.add(ends[size]!)
      }
    for (const other of others) this.#addOther(other)
  }

  get bytes(): number {
    const parts = this.#plain.reduce((sum, { length }) => sum + 8 * length, 0)
    return (
      parts +
      this.#starts.bytes +
      this.#ends.bytes +
      this.#filter.bits.byteLength +
      this.#anchors.bytes +
      200 * this.#others.size
    )
  }

  #addAnchor(hash: number): void {
    this.#filter.add(hash)
    this.#anchors.add(hash)
  }

  #addPlain(text: HashedText): void {
    this.#addAnchor(text.hash(0, this.#anchor))
    this.#addAnchor(text.hash(text.length - this.#anchor, this.#anchor))
  }

  #addOther({ secret, characters }: Indexed): void {
    const text = HashedText.of(characters)
    const anchor = text.hash(0, this.#anchor)
    this.#addAnchor(anchor)
    const lengths = this.#lengths.get(anchor) ?? new Set()
    this.#lengths.set(anchor, lengths.add(characters.length))
    this.#others.set(text.fullHash(0, characters.length), secret)
  }

  /** Marks the longest part from `anchor` to `most` characters that is in a set, and all shorter ones. */
  #markLongest(
    keyAt: (size: number) => number,
    { most, known }: { most: number; known: NumberSet },
    { marks, field }: { marks: Marks; field: number },
  ): void {
    if (!known.has(keyAt(this.#anchor))) return
    let [least, beyond] = [this.#anchor, Math.min(most, MAX_LENGTH) + 1]
    while (least + 1 < beyond) {
      const size = (least + beyond) >> 1
      if (known.has(keyAt(size))) least = size
      else beyond = size
    }
    for (let size = least; size >= this.#anchor; size--) {
      const key = keyAt(size)
      if (marks.has(key)) break
      marks.set(key, field)
    }
  }

  /** Looks for everything in a text; for parts of short values, only if it is short. */
  search(
    text: HashedText,
    field: number,
    { isShort, search, found }: { isShort: boolean; search: Search; found: Found },
  ): void {
    const anchor = this.#anchor
    const inParts = isShort || anchor > SHORT / 4
    if (isShort) search.texts.push({ text, field })
    text.eachIn(anchor, this.#filter, (start, hash) => {
      if (!this.#anchors.has(hash)) return
      for (const length of this.#lengths.get(hash) ?? []) {
        const secret = start + length <= text.length && this.#others.get(text.fullHash(start, length))
        if (typeof secret === 'number') note(found, secret, field)
      }
      const from = (size: number) => keyOf(text.hash(start, size), size)
      const marks = inParts ? search.starts : search.wholes
      this.#markLongest(from, { most: text.length - start, known: this.#starts }, { marks, field })
      if (!inParts) return
      const end = start + anchor
      const to = (size: number) => keyOf(text.hash(end - size, size), size)
      this.#markLongest(to, { most: end, known: this.#ends }, { marks: search.ends, field })
    })
  }

  /** Adds the values that all texts together contain, whole or in two parts. */
  conclude(search: Search, found: Found): void {
    if (search.starts.size + search.ends.size + search.wholes.size === 0) return
    const rests = new Map<number, Map<number, number>>()
    const fieldOfRest = (length: number, key: number): number | undefined => {
      const fields = rests.get(length) ?? fieldsByKey(search, length)
      rests.set(length, fields)
      return fields.get(key)
    }
    for (const { secret, length, inParts, starts, ends } of this.#plain) {
      const start = this.#longest(starts, length, search.starts)
      const whole = search.starts.get(starts[length]!) ?? search.wholes.get(starts[length]!)
      if (whole !== undefined) note(found, secret, whole)
      if (whole !== undefined || !inParts) continue
      const end = this.#longest(ends, length, search.ends)
      const [rest, before] = [length - start, length - end]
      const fields =
        start > 0 && end >= rest
          ? [search.starts.get(starts[start]!), search.ends.get(ends[end]!)]
          : rest < this.#anchor
            ? [search.starts.get(starts[start]!), fieldOfRest(rest, ends[rest]!)]
            : before < this.#anchor
              ? [search.ends.get(ends[end]!), fieldOfRest(before, starts[before]!)]
              : []
      if (!fields.includes(undefined)) for (const field of fields) note(found, secret, field!)
    }
  }

  /** Returns the length of the longest of a value's parts that are marked; 0 if none is. */
  #longest(keys: Int32Array, length: number, marks: Marks): number {
    if (!marks.has(keys[this.#anchor]!)) return 0
    let [least, beyond] = [this.#anchor, length + 1]
    while (least + 1 < beyond) {
      const size = (least + beyond) >> 1
      if (marks.has(keys[size]!)) least = size
      else beyond = size
    }
    return least
  }
}

const note = (found: Found, secret: number, field: number): void => {
  const fields = found.get(secret) ?? new Set()
  found.set(secret, fields)
  fields.add(field)
}

/** A field in which each part of this length is, by their keys. */
const fieldsByKey = ({ texts }: Search, length: number): Map<number, number> => {
  const fields = new Map<number, number>()
  for (const { text, field } of texts)
    for (let start = 0; start + length <= text.length; start++)
      fields.set(keyOf(text.hash(start, length), length), field)
  return fields
}
