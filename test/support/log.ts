import type { Logger } from '../../src/core/logger.ts'

export interface TestLog extends Logger {
  /** Everything that was logged so far. */
  text(): string
}

/** Creates a logger whose output a test can read. */
export const createTestLog = (): TestLog => {
  const lines: string[] = []
  const write = (fields: object, text: string) => {
    const readable = (_: string, value: unknown) =>
      value instanceof Error ? `${value.stack} ${JSON.stringify({ ...value })}` : value
    lines.push(`${text} ${JSON.stringify(fields, readable)}`)
  }
  const log: TestLog = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => log,
    text: () => lines.join('\n'),
  }
  return log
}
