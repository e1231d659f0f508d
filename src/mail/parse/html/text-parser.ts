import { InsertionMode, Parser, Token, Tokenizer, TokenizerMode, type TreeAdapterTypeMap } from 'parse5'

/** Where the parser does the same with white space after other text as with that text. */
const ALIKE: ReadonlySet<InsertionMode> = new Set([
  InsertionMode.IN_BODY,
  InsertionMode.IN_CAPTION,
  InsertionMode.IN_CELL,
])

const CR = 0x0d

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x09 || code === CR || code === 0x0c

/** Whether a character stands for itself in a text: no `<` or `&`, no line end, no half of a pair. */
const isOrdinary = (code: number): boolean => code >= 0x20 && code !== 0x3c && code !== 0x26 && code < 0xd800

/**
 * Reads the text between two tags as one token. parse5's tokenizer takes a step for each character, and makes a token of
 * each word and of each space between words, because the parser treats them differently in a few places
 * (docs/decisions.md#time-to-read-mail). Positions in the source are not kept.
 */
class TextTokenizer<T extends TreeAdapterTypeMap> extends Tokenizer {
  readonly #parser: Parser<T>

  constructor(parser: Parser<T>) {
    super(parser.options, parser)
    this.#parser = parser
  }

  protected override _emitCodePoint(code: number): void {
    const mayJoin = ALIKE.has(this.#parser.insertionMode)
    if (mayJoin && this.#isInText && isSpace(code)) this._extendRun(code)
    else super._emitCodePoint(code)
    if (mayJoin && this.state === TokenizerMode.DATA && this.#isInText) this.#skipOrdinary()
  }

  get #isInText(): boolean {
    return this.currentCharacterToken?.type === Token.TokenType.CHARACTER
  }

  /** Extends the run of text to the last of the ordinary characters that follow. */
  #skipOrdinary(): void {
    const { html, pos } = this.preprocessor
    // The preprocessor looks at what follows a carriage return: a line feed belongs to it.
    if (html.charCodeAt(pos) === CR) return
    let end = pos + 1
    while (end < html.length && isOrdinary(html.charCodeAt(end))) end++
    this.preprocessor.pos = end - 1
    this.runEnd = end
  }
}

/** parse5's parser, with this tokenizer. */
export class TextParser<T extends TreeAdapterTypeMap> extends Parser<T> {
  constructor(...given: ConstructorParameters<typeof Parser<T>>) {
    super(...given)
    this.tokenizer = new TextTokenizer(this)
  }
}
