import pino from 'pino'
import pretty from 'pino-pretty'
import type { Logger } from './core/logger.ts'

/** Keys whose values are never written, at the top of the fields and one or two levels below. */
const hidden = ['authorization', 'cookie', 'token', 'secret', 'password', 'masterKey', 'text', 'raw']

const capitalized = (key: string) => key.slice(0, 1).toUpperCase() + key.slice(1) // as headers are spelled

const paths = hidden.flatMap((key) => [key, capitalized(key)]).flatMap((key) => [key, `*.${key}`, `*.*.${key}`])

/** stderr, written at once: a line that is still in a buffer is lost with the process, and the last lines are the ones wanted. */
function destination(readable: boolean): pino.DestinationStream {
  if (readable) return pretty({ destination: 2, sync: true, ignore: 'pid,hostname' })
  return pino.destination({ dest: 2, sync: true })
}

/**
 * A logger that writes JSON lines to stderr, or readable ones when stderr is a terminal: `time` in ISO 8601, `level` as a word, `msg`.
 * `stream` is for tests.
 */
export function createLogger(level: string, stream?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths, censor: '[hidden]' },
  }
  return wrap(pino(options, stream ?? destination(process.stderr.isTTY === true)))
}

const wrap = (inner: pino.Logger): Logger => ({
  debug: (fields, text) => inner.debug(fields, text),
  info: (fields, text) => inner.info(fields, text),
  warn: (fields, text) => inner.warn(fields, text),
  error: (fields, text) => inner.error(fields, text),
  child: (fields) => wrap(inner.child(fields)),
})
