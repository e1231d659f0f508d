import pino from 'pino'
import type { Logger } from '../core/logger.ts'
import { COMMIT, VERSION } from '../core/version.ts'
import { Repeats } from './repeats.ts'
import { isKept } from './sample.ts'

/** Formats lines for a person at a terminal. */
const pretty = process.stderr.isTTY ? (await import('pino-pretty')).default : undefined

/** Keys whose values are never logged, in any case. */
const HIDDEN = new Set(['authorization', 'cookie', 'token', 'secret', 'password', 'masterkey', 'text', 'raw'])
/** Number of levels below the top in which these keys are searched for. */
const DEPTH = 2

const concealed = (key: string, value: unknown, depth: number): unknown => {
  if (value === undefined || value === null) return value
  if (HIDDEN.has(key.toLowerCase())) return '[hidden]'
  if (depth === DEPTH || typeof value !== 'object' || value instanceof Date) return value
  return conceal(value instanceof Error ? pino.stdSerializers.err(value) : value, depth + 1)
}

/**
 * Returns the fields without hidden values; the same object when there is nothing to hide. Replaces pino's
 * `redact`, which evaluates all of its paths for each line. See docs/decisions.md#hidden-log-values.
 */
const conceal = (fields: object, depth = 0): Record<string, unknown> => {
  let visible = fields as Record<string, unknown>
  for (const [key, value] of Object.entries(fields)) {
    const shown = concealed(key, value, depth)
    if (shown === value) continue
    if (visible === fields) visible = { ...fields }
    visible[key] = shown
  }
  return visible
}

/**
 * stderr, written synchronously: buffered lines are lost when the process ends, and the last lines are the
 * important ones.
 */
function destination(): pino.DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true })
  // A closed terminal or pipe must not end the service.
  stderr.on('error', () => undefined)
  return pretty ? pretty({ destination: stderr, ignore: 'pid,hostname,version' }) : stderr
}

/**
 * Creates a logger that writes JSON lines to stderr, or formatted ones when stderr is a terminal: `time` in
 * ISO 8601, `level` as a word, `msg`. `sample` is the share of routine lines to keep (see `isKept`). `stream`
 * is for tests.
 */
export function createLogger(
  level: string,
  { sample = 1, stream }: { sample?: number; stream?: pino.DestinationStream } = {},
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { pid: process.pid, version: COMMIT ? `${VERSION}+${COMMIT}` : VERSION },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: conceal },
    serializers: { err: (error) => error }, // already done by `conceal`
  }
  return wrap(pino(options, stream ?? destination()), sample, new Repeats())
}

/** `repeats`: only without fields of a child, which say what a line is about. */
const wrap = (inner: pino.Logger, sample: number, repeats?: Repeats): Logger => {
  const unrepeated = (level: 'warn' | 'error') => (fields: object, text: string) => {
    const passed = repeats ? repeats.pass(fields, text) : fields
    if (passed) inner[level](passed, text)
  }
  return {
    debug: (fields, text) => inner.debug(fields, text),
    info: (fields, text) => {
      if (isKept(fields, sample)) inner.info(fields, text)
    },
    warn: unrepeated('warn'),
    error: unrepeated('error'),
    child: (fields) => wrap(inner.child(conceal(fields)), sample),
  }
}
