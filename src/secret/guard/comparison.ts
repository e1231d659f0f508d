import { setImmediate } from 'node:timers/promises'
import { decoded, ROWS, type Row, unreadOf } from './characters.ts'
import { formsOf } from './forms.ts'
import { isGuarded, SHORT } from './guarded.ts'
import { HashedText } from './hashed-text.ts'
import { type Found, type Indexed, newSearch, RowIndex } from './row-index.ts'
import { unpacked } from './unpacked.ts'

/** A part of a message that could contain a secret's value. */
export interface Field {
  /** As an error names it, such as `text` or `attachments[0]`. */
  name: string
  text: string
}

/** A secret whose value a message contains, and the fields that contain it. */
export interface Leak {
  secret: string
  fields: string[]
}

/**
 * A long text is compared in pieces, between which others have their turn. They overlap by more than any form takes, with
 * separators and encodings between its characters.
 */
const PIECE = 128 * 1024
const OVERLAP = 8 * 1024
/** In a longer text, the parts of short values are not looked for. */
const SHORT_TEXT = 32 * 1024

function* piecesOf(text: string): Generator<string> {
  if (text.length <= PIECE) yield text
  else for (let at = 0; at < text.length; at += PIECE - OVERLAP) yield text.slice(at, at + PIECE)
}

const withoutTags = (text: string): string => text.replace(/<[^<>]*>/g, '')

/** A tag; an address between angle brackets is none. */
const TAG = /<\/?[a-z][a-z0-9]{0,20}[\s/>]/i

/** What of a text is compared: as it is, decoded, HTML without its tags, and what is in base64 in it. */
const readingsOf = (text: string): Set<string> => {
  const readings = new Set([text, decoded(text)])
  if (TAG.test(text)) for (const one of [...readings]) readings.add(withoutTags(one))
  const inner = unpacked(text)
  if (inner.length > 0) readings.add(inner.join('\n'))
  return readings
}

/** How many characters of a form are looked up first. */
const anchorOf = (length: number): number => (length < SHORT ? 4 : 8)

interface Indexes {
  row: Row
  indexes: RowIndex[]
}

/**
 * Compares texts with values of secrets, in all their forms at once. It keeps hashes with a key of this process, not the
 * values. The time that it takes depends on whether a value is there, not on how much of one is.
 */
export class Comparison {
  readonly bytes: number
  readonly #names: readonly string[]
  readonly #rows: Indexes[] = []

  constructor(secrets: readonly { name: string; value: string }[]) {
    const guarded = secrets.filter(({ value }) => isGuarded(value))
    this.#names = guarded.map(({ name }) => name)
    const forms = guarded.map(({ value }) => formsOf(value))
    const of = (kind: 'plain' | 'others', row: Row, anchor: number): Indexed[] =>
      forms.flatMap((each, secret) =>
        each[kind]
          .filter((form) => form.row === row && anchorOf(form.characters.length) === anchor)
          .map(({ characters }) => ({ secret, characters })),
      )
    for (const row of ROWS) {
      const indexes = [4, 8].flatMap((anchor) => {
        const [plain, others] = [of('plain', row, anchor), of('others', row, anchor)]
        return plain.length + others.length > 0 ? [new RowIndex(anchor, plain, others)] : []
      })
      if (indexes.length > 0) this.#rows.push({ row, indexes })
    }
    this.bytes = this.#rows.flatMap(({ indexes }) => indexes).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Returns the secrets whose values the fields contain, whole or in two parts. */
  async leaksIn(fields: readonly Field[]): Promise<Leak[]> {
    if (this.#rows.length === 0) return []
    const found: Found = new Map()
    const searches = this.#rows.map(({ indexes }) => indexes.map(() => newSearch()))
    for (const [field, { text }] of fields.entries())
      for (const piece of piecesOf(text)) {
        const isShort = text.length <= SHORT_TEXT
        for (const reading of readingsOf(piece)) {
          const unread = unreadOf(reading)
          for (const [at, { row, indexes }] of this.#rows.entries()) {
            const hashed = new HashedText(unread(row))
            for (const [which, index] of indexes.entries())
              index.search(hashed, field, { isShort, search: searches[at]![which]!, found })
          }
        }
        if (text.length > PIECE) await setImmediate()
      }
    for (const [at, { indexes }] of this.#rows.entries())
      for (const [which, index] of indexes.entries()) index.conclude(searches[at]![which]!, found)
    return [...found].map(([secret, where]) => ({
      secret: this.#names[secret]!,
      fields: [...where].sort((a, b) => a - b).map((field) => fields[field]!.name),
    }))
  }
}
