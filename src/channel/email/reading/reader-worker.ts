import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import { cached, type DnsResolver } from '../verify/resolver.ts'
import {
  type FromWorker,
  PARSING,
  type ReadRequest,
  type ToWorker,
  TURNS,
  type WorkerSettings,
} from './protocol.ts'
import { parseStage, verifyStage } from './read-mail.ts'

// The worker thread, in this process or in a child, that handles untrusted bytes. It parses one message at a
// time; while one waits for DNS, it parses the next.

const port = parentPort!
const { settings, state } = workerData as { settings: WorkerSettings; state: Int32Array }

/**
 * Maximum number of DNS lookups for one message. SPF takes 10 (RFC 7208 4.6.4), each signature and seal one,
 * DMARC two.
 */
const MAX_LOOKUPS = 80

const lookups = new Map<
  number,
  { resolve(records: string[][] | string[]): void; reject(error: Error): void }
>()
let lastLookup = 0
let turn: Promise<unknown> = Promise.resolve()

const post = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)

const queryMainThread: DnsResolver = (name, recordType) => {
  const id = ++lastLookup
  post({ type: 'lookup', id, name, recordType })
  return new Promise((resolve, reject) => lookups.set(id, { resolve, reject }))
}

/**
 * DNS queries are made by the main thread, which caches the answers for all threads. This short-lived cache
 * saves waking both threads for each of the about five lookups per message.
 */
const resolver = cached(queryMainThread, systemClock, { positiveMs: 5_000, negativeMs: 5_000 })

function limitedResolver(): DnsResolver {
  let queries = 0
  return (name, recordType) => {
    if (++queries > MAX_LOOKUPS) return Promise.reject(dnsError('ETOOMANY'))
    return resolver(name, recordType)
  }
}

const dnsError = (code: string) => Object.assign(new Error(`DNS lookup failed: ${code}`), { code })

async function parse(id: number, request: ReadRequest) {
  Atomics.store(state, PARSING, id)
  const started = performance.now()
  try {
    return { ...(await parseStage(request, settings)), parseMs: performance.now() - started }
  } finally {
    Atomics.store(state, PARSING, 0)
  }
}

async function read(id: number, request: ReadRequest): Promise<void> {
  try {
    const parsing = turn.then(() => parse(id, request))
    turn = parsing.catch(() => undefined)
    const { parseMs, ...parsed } = await parsing
    const verification = await verifyStage(parsed, request, limitedResolver(), settings)
    const mail = { ...parsed.mail, verification }
    post({ type: 'read', id, mail, parseMs }, ownBuffers(mail.attachments))
  } catch (error) {
    post({ type: 'failed', id, reason: messageOf(error) })
  }
}

/**
 * Buffers of large attachments, which are transferred instead of copied. Small ones may be slices of a buffer
 * pool that Node.js shares.
 */
const ownBuffers = (files: readonly { content: Uint8Array }[]): ArrayBuffer[] => [
  ...new Set(
    files
      .filter(
        ({ content }) =>
          content.byteLength >= MIN_TRANSFERRED && content.byteLength === content.buffer.byteLength,
      )
      .map(({ content }) => content.buffer)
      .filter((buffer) => buffer instanceof ArrayBuffer),
  ),
]

const MIN_TRANSFERRED = 64 * 1024

port.on('message', (message: ToWorker) => {
  Atomics.add(state, TURNS, 1)
  if (message.type === 'read') void read(message.id, message.request)
  else if (message.type === 'answer') {
    const waiting = lookups.get(message.id)
    lookups.delete(message.id)
    if (message.records) waiting?.resolve(message.records)
    else waiting?.reject(dnsError(message.code ?? 'ESERVFAIL'))
  }
})

post({ type: 'started' })
