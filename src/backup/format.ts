import { COMMAND } from '../core/root.ts'
import type { Sequence, Table } from './tables.ts'

/**
 * A dump is a script for psql: a comment that describes it, then each table as PostgreSQL's COPY writes it in
 * its text format, which is the same in all versions and whose data never contains the line that ends it.
 */
export interface Description {
  format: 'agent-messaging dump'
  /** Applied to the database; it can be restored only into one with the same. */
  migrations: string[]
  tables: Table[]
  sequences: Sequence[]
}

const START = '-- '
export const END = '\\.\n'
const MAX_LINE = 1024 * 1024

/** The file is not a dump, or not a whole one. */
export class DumpError extends Error {}

export const describe = (description: Description): string => `${START}${JSON.stringify(description)}\n`

export const parseDescription = (line: string): Description => {
  try {
    const parsed = JSON.parse(line.slice(START.length)) as Description
    if (line.startsWith(START) && parsed.format === 'agent-messaging dump') return parsed
  } catch {
    // not JSON
  }
  throw new DumpError(`The file is not a dump of this service (${COMMAND} dump).`)
}

/** Reads a dump from the chunks of a file. */
export class DumpReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#chunks.next()
    if (done) throw new DumpError('The dump is not complete: its end is missing.')
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }

  /** Returns the next line, without its end. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf('\n')
      if (end >= 0) {
        const line = this.#rest.toString('utf8', 0, end)
        this.#rest = this.#rest.subarray(end + 1)
        return line
      }
      if (this.#rest.length > MAX_LINE) throw new DumpError('The file is not a dump: a line is too long.')
      await this.#more()
    }
  }

  /** Yields the rows of one table, up to the line that ends them. */
  async *rows(): AsyncGenerator<Buffer> {
    // The end is a line of its own: the first one, or one after a line's end.
    for (let atStart = true; ; atStart = false) {
      while (this.#rest.length < END.length + 1) {
        if (atStart && this.#rest.indexOf(END) === 0) break
        await this.#more()
      }
      if (atStart && this.#rest.indexOf(END) === 0) {
        this.#rest = this.#rest.subarray(END.length)
        return
      }
      const end = this.#rest.indexOf(`\n${END}`)
      const upTo = end >= 0 ? end + 1 : this.#rest.length - END.length
      yield this.#rest.subarray(0, upTo)
      this.#rest = this.#rest.subarray(end >= 0 ? upTo + END.length : upTo)
      if (end >= 0) return
    }
  }
}
