import { UsageError } from './failure.ts'

/**
 * What goes to the terminal. Messages come from outside: their control characters could move the cursor, change
 * the title or hide text, and those for writing direction could reorder it.
 */
const HARMFUL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu

/** Text of several lines, without control characters but line breaks and tabs. */
export const printable = (text: string): string => text.replace(/\r\n?/g, '\n').replace(HARMFUL, '')

/** The same on one line. */
export const oneLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim()

/** JSON on one line, in which such characters are escaped. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value).replace(HARMFUL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A word as POSIX shells read it. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

/** Where a command reads and writes. */
export interface Terminal {
  /** Results. */
  out(line: string): void
  /** All that is no result. */
  note(line: string): void
  style(name: keyof typeof STYLES, text: string): string
}

export const createTerminal = (env: NodeJS.ProcessEnv = process.env): Terminal => {
  const hasColors = process.stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    style: (name, text) => (hasColors ? `\x1b[${STYLES[name]}m${text}\x1b[0m` : text),
  }
}

/**
 * All of standard input. Throws inside `ams listen --exec`, where it is the event: a mistake would send the sender their
 * own mail with what the service says of it, or store it as a secret.
 */
export const readStdin = async (what: string): Promise<string> => {
  if (process.env.AMS_EVENT_ID !== undefined)
    throw new UsageError(
      `${what} cannot be read from standard input inside ams listen, where it is the event.`,
    )
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
