import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../../core/errors.ts'
import { type ParsedMail, parseMail, salvage } from './parse.ts'

export interface MailParser {
  /** Never rejects; beyond the time limit the message comes back salvaged. */
  parse(raw: Uint8Array): Promise<ParsedMail>
  close(): Promise<void>
}

export interface ParserOptions {
  /** Messages up to so many bytes are parsed here, longer ones in the worker thread. */
  inlineLimit?: number
  /** Milliseconds that the worker may take for one message. */
  timeoutMs?: number
}

// What a thread leaves behind of a mail of 25 MiB (100 MB) stays until its next one. After such a mail a new one is started, in 0.2 s.
const RETIRING = 4 * 1024 * 1024

/**
 * A parser that keeps the event loop free. 10 KB take one or two milliseconds; the limit is where mail made to be slow (64 KB of empty
 * lines) would take 200. 25 MB take about half a second in its one worker thread, which starts with the first long message and takes them
 * one after the other, so that their memory adds up once.
 */
export function createMailParser({ inlineLimit = 64 * 1024, timeoutMs = 10_000 }: ParserOptions = {}): MailParser {
  let worker: Worker | null = null
  let queue: Promise<unknown> = Promise.resolve()
  const discard = async () => {
    const old = worker
    worker = null
    await old?.terminate()
  }
  const parseAway = async (raw: Uint8Array): Promise<ParsedMail> => {
    try {
      worker ??= startWorker()
      const mail = await ask(worker, raw, timeoutMs)
      if (raw.length > RETIRING) await discard()
      return mail
    } catch (error) {
      await discard()
      return salvage(raw, messageOf(error))
    }
  }
  return {
    parse(raw) {
      if (raw.length <= inlineLimit) return parseMail(raw)
      const turn = queue.then(() => parseAway(raw))
      queue = turn
      return turn
    },
    close: discard,
  }
}

function ask(worker: Worker, raw: Uint8Array, timeoutMs: number): Promise<ParsedMail> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit')
      // An idle worker must not keep the process alive, nor may a late error of it end it.
      worker.on('error', () => undefined).unref()
      act()
    }
    const timer = setTimeout(() => settle(() => reject(new Error(`parsing took longer than ${timeoutMs} ms`))), timeoutMs)
    worker.ref()
    worker.removeAllListeners('error')
    worker.once('message', (mail: ParsedMail) => settle(() => resolve(mail)))
    worker.once('error', (error) => settle(() => reject(error)))
    worker.once('exit', (code) => settle(() => reject(new Error(`the parser's thread ended with ${code}`))))
    // A Buffer's slice would be the caller's own memory, and gone from it once handed over.
    const copy = new Uint8Array(raw)
    worker.postMessage(copy, [copy.buffer])
  })
}

function startWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 384 }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./parse-worker.js', import.meta.url), { resourceLimits })
  // Run from source (tests, tsx): a thread doesn't inherit the loader.
  const tsx = new URL('dist/esm/api/index.mjs', pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'))).href
  const source = new URL('./parse-worker.ts', import.meta.url).href
  return new Worker(`import('${tsx}').then(({ register }) => { register(); return import('${source}') })`, { eval: true, resourceLimits })
}
