import iconv from 'iconv-lite'
import { tooLarge } from './problem.ts'
import type { TextOutput } from './text-output.ts'

/** Groups in groups: documents of people have fewer than 100. */
const MAX_DEPTH = 10_000

/** Groups that are not text, beside those that are marked as unknown to older programs. */
const NO_TEXT = new Set(
  'colortbl stylesheet info pict object objdata themedata colorschememapping datastore listtable listoverridetable rsidtbl xmlnstbl fldinst nonshppict bkmkstart bkmkend revtbl generator filetbl sp shprslt'.split(
    ' ',
  ),
)

/** Marked groups that have text: those of text boxes. */
const WITH_TEXT = new Set(['shpinst', 'shptxt', 'do', 'dptxbxtext'])

/** The code pages of fonts (`\fcharset`). */
const CHARSETS: Readonly<Record<number, string>> = {
  ...{
    77: 'macroman',
    128: 'shift_jis',
    129: 'cp949',
    130: 'johab',
    134: 'gb18030',
    136: 'big5',
    161: 'cp1253',
  },
  ...{
    162: 'cp1254',
    163: 'cp1258',
    177: 'cp1255',
    178: 'cp1256',
    186: 'cp1257',
    204: 'cp1251',
    222: 'cp874',
  },
  ...{ 238: 'cp1250', 255: 'cp437' },
}

/** What controls stand for. */
const TEXT: Readonly<Record<string, string>> = {
  ...{ par: '\n', line: '\n', sect: '\n', page: '\n', column: '\n', row: '\n', nestrow: '\n', tab: '\t' },
  ...{ cell: '\t', nestcell: '\t', emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“' },
  ...{ rdblquote: '”', bullet: '•', emspace: ' ', enspace: ' ', qmspace: ' ', '~': ' ', _: '-', '\n': '\n' },
  ...{ '\r': '\n', '\\': '\\', '{': '{', '}': '}' },
}

const TOKEN =
  /\\([a-z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]{1,65536})|[\r\n]{1,65536}|[\s\S]/gi

interface Group {
  isSkipped: boolean
  isFonts: boolean
  isHidden: boolean
  /** Characters that follow `\u` for older programs. */
  fallback: number
  /** The number of the font. */
  font: number
}

/** Reads RTF in one pass. */
class Rtf {
  readonly #out: TextOutput
  readonly #groups: Group[] = []
  readonly #fonts = new Map<number, string>()
  #now: Group = { isSkipped: false, isFonts: false, isHidden: false, fallback: 1, font: -1 }
  #charset = 'cp1252'
  /** Bytes of one charset: a character may have two, of which the second looks like a letter. */
  #bytes = ''
  /** Characters to leave out, because `\u` stood before them. */
  #left = 0
  /** Whether the group has just begun, and whether it is marked as one that programs leave out if it is unknown to them. */
  #isStart = false
  #isMarked = false

  constructor(out: TextOutput) {
    this.#out = out
  }

  read(source: string): void {
    TOKEN.lastIndex = 0
    for (let at = 0; at < source.length; ) {
      TOKEN.lastIndex = at
      const token = TOKEN.exec(source)
      if (!token) break
      at = TOKEN.lastIndex
      at += this.#take(token)
    }
    this.#flush()
  }

  /** Takes a token, and returns the number of bytes after it that are no RTF. */
  #take([, word, digits, hex, symbol, brace, text]: RegExpExecArray): number {
    if (word !== undefined) return this.#control(word, digits === undefined ? null : Number(digits))
    if (hex !== undefined) this.#characters(String.fromCharCode(Number.parseInt(hex, 16)))
    else if (text !== undefined) this.#characters(text)
    else if (brace !== undefined) this.#brace(brace)
    else if (symbol === '*') this.#isMarked = true
    else if (symbol !== undefined) this.#write(TEXT[symbol] ?? '')
    if (symbol !== '*') this.#isStart = brace === '{'
    return 0
  }

  #brace(brace: string): void {
    this.#flush()
    this.#left = 0
    if (brace === '}') this.#now = this.#groups.pop() ?? this.#now
    else if (this.#groups.push(this.#now) > MAX_DEPTH)
      throw tooLarge(`its groups are nested deeper than ${MAX_DEPTH} levels`)
    else this.#now = { ...this.#now }
    this.#out.inTime()
  }

  #control(word: string, value: number | null): number {
    if (this.#isMarked ? !WITH_TEXT.has(word) : this.#isStart && NO_TEXT.has(word)) this.#now.isSkipped = true
    this.#isStart = this.#isMarked = false
    if (Object.hasOwn(TEXT, word)) this.#write(TEXT[word]!)
    else if (word === 'u') this.#unicode(value ?? 0)
    else if (word === 'bin') return Math.max(value ?? 0, 0)
    else this.#set(word, value)
    return 0
  }

  #set(word: string, value: number | null): void {
    const now = this.#now
    if (word === 'f' || word === 'deff') {
      this.#flush()
      now.font = value ?? 0
    } else if (word === 'fonttbl') now.isFonts = now.isSkipped = true
    else if (word === 'fcharset' && now.isFonts) this.#fonts.set(now.font, CHARSETS[value ?? 0] ?? '')
    else if (word === 'ansicpg') this.#charset = iconv.encodingExists(`cp${value}`) ? `cp${value}` : 'cp1252'
    else if (word === 'mac') this.#charset = 'macroman'
    else if (word === 'pc') this.#charset = 'cp437'
    else if (word === 'uc') now.fallback = Math.min(Math.max(value ?? 1, 0), 100)
    else if (word === 'v' || word === 'deleted') now.isHidden = value !== 0
    else if (word === 'plain') now.isHidden = false
  }

  #unicode(value: number): void {
    this.#write(String.fromCharCode(value & 0xffff))
    this.#left = this.#now.fallback
  }

  #characters(text: string): void {
    const shown = text.slice(this.#left)
    this.#left = Math.max(this.#left - text.length, 0)
    if (!this.#now.isSkipped && !this.#now.isHidden) this.#bytes += shown
  }

  #write(text: string): void {
    this.#flush()
    this.#left = 0
    if (!this.#now.isSkipped && !this.#now.isHidden) this.#out.add(text)
  }

  #flush(): void {
    if (this.#bytes === '') return
    const charset = this.#fonts.get(this.#now.font) || this.#charset
    this.#out.add(iconv.decode(Buffer.from(this.#bytes, 'latin1'), charset))
    this.#bytes = ''
  }
}

export const readRtf = (content: Uint8Array, out: TextOutput): void =>
  new Rtf(out).read(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'))
