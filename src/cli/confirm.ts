import { createInterface } from 'node:readline/promises'
import { UsageError } from './command-line.ts'

/** Asks the person at the terminal to type `answer`. Throws `UsageError` for anything else, and without a terminal. */
export const confirm = async (question: string, answer: string): Promise<void> => {
  if (!process.stdin.isTTY) throw new UsageError('There is no terminal to ask for a confirmation: add --yes.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    if ((await terminal.question(question)).trim() !== answer)
      throw new UsageError('That is something else: nothing was changed.')
  } finally {
    terminal.close()
  }
}
