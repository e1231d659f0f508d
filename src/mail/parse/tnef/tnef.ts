import { decodeText } from '../../decode/charset.ts'
import {
  PR_ATTACH_DATA,
  PR_ATTACH_FILENAME,
  PR_ATTACH_LONG_FILENAME,
  PR_ATTACH_MIME_TAG,
  PR_BODY,
  PR_BODY_HTML,
  PR_DISPLAY_NAME,
  PR_RTF_COMPRESSED,
  type Properties,
  readProperties,
  withoutNuls,
} from './properties.ts'
import { ByteReader } from './stream.ts'

/**
 * Contents of a `winmail.dat` written by Exchange ([MS-OXTNEF]): the body in up to three forms, and the
 * files.
 */
export interface Tnef {
  text: string | null
  html: string | null
  /** Compressed RTF ([MS-OXRTFCP]). */
  rtf: Buffer | null
  files: TnefFile[]
}

export interface TnefFile {
  name: string
  /** Null if not specified. */
  type: string | null
  content: Buffer
  /** Whether the content is itself a TNEF message. */
  isMessage: boolean
}

const SIGNATURE = 0x223e9f78
const BODY = 0x800c
const MESSAGE_PROPERTIES = 0x9003
const CODE_PAGE = 0x9007
const BEGIN_FILE = 0x9002
const FILE_TITLE = 0x8010
const FILE_DATA = 0x800f
const FILE_PROPERTIES = 0x9005
const MAX_FILES = 1_000

/**
 * Reads TNEF data up to the first damaged place; the part before it is returned. Throws if the data does not
 * begin with the TNEF signature.
 */
export function readTnef(bytes: Uint8Array): Tnef {
  const reader = new ByteReader(bytes)
  if (reader.left < 6 || reader.long() !== SIGNATURE) throw new Error('not a TNEF stream')
  reader.short()
  const assembly = new Assembly()
  try {
    while (reader.left > 0) {
      reader.byte()
      const attribute = reader.long() & 0xffff
      const data = reader.take(reader.long())
      assembly.take(attribute, data)
      reader.short() // the checksum, which is no protection against a malicious sender
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return assembly.tnef
}

class Assembly {
  readonly tnef: Tnef = { text: null, html: null, rtf: null, files: [] }
  #charset = 'windows-1252'
  #file: TnefFile | null = null

  take(attribute: number, data: Buffer): void {
    if (attribute === CODE_PAGE && data.length >= 4) this.#charset = charsetOf(data.readUInt32LE())
    else if (attribute === BODY) this.tnef.text ??= this.#decode(data)
    else if (attribute === MESSAGE_PROPERTIES) this.#takeBody(readProperties(data, this.#charset))
    else if (attribute === BEGIN_FILE) this.#beginFile()
    else if (this.#file === null) return
    else if (attribute === FILE_TITLE) this.#file.name ||= this.#decode(data)
    else if (attribute === FILE_DATA) this.#file.content = data
    else if (attribute === FILE_PROPERTIES)
      this.#describeFile(this.#file, readProperties(data, this.#charset))
  }

  #takeBody(properties: Properties): void {
    this.tnef.text = textOf(properties.get(PR_BODY)) ?? this.tnef.text
    const html = properties.get(PR_BODY_HTML)
    if (html !== undefined) this.tnef.html = typeof html === 'string' ? html : decodeText(html, 'utf-8')
    const rtf = properties.get(PR_RTF_COMPRESSED)
    if (rtf !== undefined && typeof rtf !== 'string') this.tnef.rtf = rtf
  }

  #beginFile(): void {
    this.#file = { name: '', type: null, content: Buffer.alloc(0), isMessage: false }
    if (this.tnef.files.length < MAX_FILES) this.tnef.files.push(this.#file)
  }

  #describeFile(file: TnefFile, properties: Properties): void {
    const names = [PR_ATTACH_LONG_FILENAME, PR_ATTACH_FILENAME, PR_DISPLAY_NAME].map((id) =>
      textOf(properties.get(id)),
    )
    file.name = names.find((name) => name) ?? file.name
    file.type = textOf(properties.get(PR_ATTACH_MIME_TAG)) ?? file.type
    const object = properties.get(PR_ATTACH_DATA)
    if (object === undefined || typeof object === 'string') return
    // An object begins with the id of its interface; for a message, TNEF follows.
    const inner = object.subarray(16)
    file.isMessage = inner.length >= 4 && inner.readUInt32LE() === SIGNATURE
    file.content = file.isMessage ? inner : object
  }

  #decode(data: Buffer): string {
    return withoutNuls(decodeText(data, this.#charset))
  }
}

const textOf = (value: string | Buffer | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null

const charsetOf = (codePage: number): string =>
  codePage === 65001 ? 'utf-8' : codePage === 20127 ? 'us-ascii' : `cp${codePage}`
