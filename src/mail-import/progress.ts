import type { ImportSummary } from '../message/index.ts'

/** How far an import is, in bytes or in mails. */
export interface Meter {
  done: number
  total: number
}

interface Output {
  write(text: string): unknown
  isTTY?: boolean
}

export interface Progress {
  show(summary: ImportSummary): void
  /** Prints the result, and the names of what was skipped. */
  finish(summary: ImportSummary): void
}

/** At most this often, in milliseconds. */
const EVERY_MS = 500
const WIDTH = 30

const countsOf = ({ imported, duplicates, skippedCount }: ImportSummary) => ({
  imported,
  duplicates,
  skipped: skippedCount,
})

/** What comes from a mailbox could contain control sequences for the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

const bar = (share: number): string =>
  `[${'#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH)}] ${String(Math.floor(share * 100)).padStart(3)}%`

const shareOf = ({ done, total }: Meter): number => (total === 0 ? 0 : Math.min(1, done / total))

const sentenceOf = (summary: ImportSummary): string => {
  const { imported, duplicates, skipped } = countsOf(summary)
  return `${imported} imported, ${duplicates} known already, ${skipped} skipped`
}

const onTerminal = ({ write }: { write(text: string): void }, meter: Meter): Progress => ({
  show: (summary) => write(`\r${bar(shareOf(meter))}  ${sentenceOf(summary)}\x1b[K`),
  finish: (summary) => {
    write(`\r${bar(1)}  ${sentenceOf(summary)}\x1b[K\n`)
    for (const { name, reason } of summary.skipped) write(`skipped: ${printable(`${name} ${reason}`)}\n`)
  },
})

const asLines = ({ write }: { write(text: string): void }, meter: Meter): Progress => ({
  show: (summary) => write(`${JSON.stringify({ progress: shareOf(meter), ...countsOf(summary) })}\n`),
  finish: ({ skipped, ...summary }) =>
    write(`${JSON.stringify({ done: true, ...countsOf({ ...summary, skipped }), mails: skipped })}\n`),
})

/** Shows the progress of an import: a bar on a terminal, otherwise JSON lines, the last one with the result. */
export const createProgress = (output: Output, meter: Meter, now: () => number = Date.now): Progress => {
  const writer = { write: (text: string) => void output.write(text) }
  const { show, finish } = output.isTTY ? onTerminal(writer, meter) : asLines(writer, meter)
  let shownAt = Number.NEGATIVE_INFINITY
  return {
    show: (summary) => {
      if (now() - shownAt < EVERY_MS) return
      shownAt = now()
      show(summary)
    },
    finish,
  }
}
