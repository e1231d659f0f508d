import type { Entry, ZipFile } from 'yauzl'
import { broken, FileProblem, tooLarge } from './problem.ts'
import { Full, type TextOutput } from './text-output.ts'

/** Files that an archive may have: those of an Office document are a few hundred at most. */
const MAX_ENTRIES = 20_000
/** A part of which all of the text is needed at once. */
const MAX_PART = 4 * 1024 * 1024

/** A ZIP, or a document that is one. Nothing of it is unpacked but what is asked for, piece by piece. */
export class Archive {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #out: TextOutput
  /** Whether it has more files than are known. */
  readonly hasMore: boolean

  constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, out: TextOutput, hasMore: boolean) {
    this.#zip = zip
    this.#entries = entries
    this.#out = out
    this.hasMore = hasMore
  }

  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Passes on a part's text as it is unpacked. Nothing for a part that there is not. */
  async read(name: string, write: (text: string) => void): Promise<void> {
    const entry = this.#entries.get(name)
    if (!entry) return
    let decoder: TextDecoder | undefined
    try {
      const stream = await this.#zip.openReadStreamPromise(entry)
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#out.unpacked(chunk.byteLength)
        decoder ??= decoderOf(chunk)
        write(decoder.decode(chunk, { stream: true }))
      }
    } catch (error) {
      if (error instanceof FileProblem || error instanceof Full) throw error
      throw broken(`its part ${name.slice(0, 100)} cannot be unpacked`)
    }
    write(decoder?.decode() ?? '')
  }

  /** Returns the text of a small part; empty if there is none. */
  async text(name: string): Promise<string> {
    const parts: string[] = []
    let length = 0
    await this.read(name, (text) => {
      length += text.length
      if (length > MAX_PART) throw tooLarge(`its part ${name.slice(0, 100)} is too long`)
      parts.push(text)
    })
    return parts.join('')
  }
}

/** XML is in UTF-8, or in UTF-16 with a mark of the byte order. */
const decoderOf = (start: Buffer): TextDecoder => {
  const mark = start.subarray(0, 2).toString('hex')
  return new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8')
}

export const openArchive = async (content: Uint8Array, out: TextOutput): Promise<Archive> => {
  const { fromBufferPromise, getFileNameLowLevel } = (await import('yauzl')).default
  try {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    // Names that would be unsafe to unpack are listed, not refused: nothing is written anywhere.
    const zip = await fromBufferPromise(bytes, { decodeStrings: false })
    const entries = new Map<string, Entry>()
    for await (const entry of zip.eachEntry()) {
      if (entries.size >= MAX_ENTRIES) return new Archive(zip, entries, out, true)
      const name = getFileNameLowLevel(
        entry.generalPurposeBitFlag,
        entry.fileNameRaw,
        entry.extraFields,
        false,
      )
      entries.set(name, entry)
      out.inTime()
    }
    return new Archive(zip, entries, out, false)
  } catch (error) {
    if (error instanceof FileProblem) throw error
    throw broken('its directory of files cannot be read')
  }
}

/** A ZIP's files, with their sizes. */
export const listArchive = (archive: Archive, out: TextOutput): void => {
  for (const [name, entry] of archive.entries) {
    const size = name.endsWith('/') ? '' : `\t${entry.uncompressedSize} bytes`
    out.line(`${name.replace(/\s/g, ' ')}${size}${entry.isEncrypted() ? ' (encrypted)' : ''}`)
  }
  if (archive.hasMore) throw new Full()
}
