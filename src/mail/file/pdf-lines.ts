/** A piece of text on a page, with its place: `along` is where it begins in its line, `across` the height of its line. */
export interface Piece {
  text: string
  along: number
  across: number
  width: number
  size: number
  /** Whether a space stood before it. */
  isApart: boolean
}

interface Line {
  pieces: Piece[]
  across: number
  size: number
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const LEFT_TO_RIGHT =
  /(?![\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}])\p{L}/u

/** In sizes of the letters: pieces of one line, a space between two pieces, the next column of a table, a new paragraph. */
const SAME_LINE = 0.4
const SPACE = 0.15
const COLUMN = 1.3
const PARAGRAPH = 1.9

/**
 * The lines of a page. A page is written in the order in which it is read (columns one after another, tables by their
 * rows), except that the pieces of one line may be in any order: these are sorted.
 */
export class PageLines {
  readonly #lines: Line[] = []

  add(piece: Piece): void {
    const line = this.#lines.at(-1)
    if (line && isOn(line, piece)) {
      line.pieces.push(piece)
      line.size = Math.max(line.size, piece.size)
    } else this.#lines.push({ pieces: [piece], across: piece.across, size: piece.size })
  }

  /** Adds what was filled in on the page, to the line in which it stands. */
  fillIn(piece: Piece): void {
    const before = this.#lines.filter((line) => isOn(line, piece) && startOf(line) <= piece.along)
    const line = before.sort((one, other) => startOf(other) - startOf(one))[0]
    if (line) line.pieces.push(piece)
    else this.add(piece)
  }

  toString(): string {
    let text = ''
    for (const [index, line] of this.#lines.entries()) {
      const above = this.#lines[index - 1]
      const down = above ? above.across - line.across : 0
      const isNext = !above || (down >= 0 && down < PARAGRAPH * Math.max(above.size, line.size))
      text += `${isNext ? '' : '\n'}${textOf(line)}\n`
    }
    return text
  }
}

const startOf = ({ pieces }: Line): number => pieces[0]!.along

const isOn = (line: Line, { across, size }: Piece): boolean =>
  Math.abs(line.across - across) < SAME_LINE * Math.max(line.size, size)

const count = (pieces: readonly Piece[], pattern: RegExp): number =>
  pieces.filter(({ text }) => pattern.test(text)).length

/** Numbers stand in lines of either direction. */
const textOf = ({ pieces }: Line): string => {
  const isLeftwards = count(pieces, RIGHT_TO_LEFT) > count(pieces, LEFT_TO_RIGHT)
  const sorted = pieces.toSorted((one, other) =>
    isLeftwards ? other.along - one.along : one.along - other.along,
  )
  let text = ''
  let last: Piece | undefined
  for (const piece of sorted) {
    if (last) text += separatorOf(isLeftwards ? piece : last, isLeftwards ? last : piece, piece)
    text += piece.text
    last = piece
  }
  return text
}

/** What is between two pieces; `second` follows `left` or, from right to left, `right`. */
const separatorOf = (left: Piece, right: Piece, second: Piece): string => {
  const size = Math.min(left.size, right.size)
  const gap = right.along - left.along - left.width
  if (gap > COLUMN * size) return '\t'
  return gap > SPACE * size || second.isApart ? ' ' : ''
}
