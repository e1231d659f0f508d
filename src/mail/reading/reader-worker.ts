import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { cached, type DnsResolver } from '../verify/resolver.ts'
import {
  type FileRequest,
  type FromWorker,
  PARSING,
  type ReadRequest,
  type ToWorker,
  TURNS,
  type ViewRequest,
  type WorkerSettings,
} from './protocol.ts'
import { parseStage, verifyStage, viewStage } from './read-mail.ts'

// The worker thread, in this process or in a child, that handles untrusted bytes. It parses one message at a
// time; while one waits for DNS, it parses the next.

const port = parentPort!
const { settings, state } = workerData as { settings: WorkerSettings; state: Int32Array }

/**
 * Maximum number of DNS lookups for one message. SPF takes 10 (RFC 7208 4.6.4), each signature and seal one,
 * DMARC two.
 */
const MAX_LOOKUPS = 80

/** Time in milliseconds after which a verification counts as waiting for DNS: with answers at hand it takes less. */
const WAITING_MS = 20

const lookups = new Map<
  number,
  { of: number; resolve(records: string[][] | string[]): void; reject(error: Error): void }
>()
let lastLookup = 0
let turn: Promise<unknown> = Promise.resolve()

const post = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)

/** The message whose verification asks for a name. Set for the moment of the call, because the cache knows no messages. */
let asking = 0

const queryMainThread: DnsResolver = (name, recordType) => {
  const id = ++lastLookup
  const of = asking
  post({ type: 'lookup', id, name, recordType })
  return new Promise((resolve, reject) => lookups.set(id, { of, resolve, reject }))
}

/**
 * DNS queries are made by the main thread, which caches the answers for all threads. This short-lived cache
 * saves waking both threads for each of the about five lookups per message.
 */
const resolver = cached(queryMainThread, systemClock, { positiveMs: 5_000, negativeMs: 5_000 })

function limitedResolver(id: number): DnsResolver {
  let queries = 0
  return (name, recordType) => {
    if (++queries > MAX_LOOKUPS) return Promise.reject(dnsError('ETOOMANY'))
    asking = id
    return resolver(name, recordType)
  }
}

const dnsError = (code: string) => Object.assign(new Error(`DNS lookup failed: ${code}`), { code })

/** Runs the work on a message after that on the earlier ones, and measures it. */
function inTurn<Result>(
  id: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; parseMs: number }> {
  const parsing = turn.then(async () => {
    Atomics.store(state, PARSING, id)
    const started = performance.now()
    try {
      return { result: await work(), parseMs: performance.now() - started }
    } finally {
      Atomics.store(state, PARSING, 0)
    }
  })
  turn = parsing.catch(() => undefined)
  return parsing
}

async function read(id: number, request: ReadRequest): Promise<void> {
  const { result: parsed, parseMs } = await inTurn(id, () => parseStage(request, settings))
  const waiting = setTimeout(() => post({ type: 'waiting', id }), WAITING_MS)
  const verification = await verifyStage(parsed, request, limitedResolver(id), settings)
  clearTimeout(waiting)
  const result = { ...parsed.mail, verification }
  post({ type: 'done', id, result, parseMs }, ownBuffers(result.attachments))
}

const view = async (id: number, request: ViewRequest): Promise<void> =>
  post({ type: 'done', id, ...(await inTurn(id, () => viewStage(request))) })

/** Files are read while nothing else is to be done: they may take seconds. */
const FILE_PRIORITY = 5

async function file(id: number, { raw, ...request }: FileRequest): Promise<void> {
  const { readFileText } = await import('../file/read-file.ts')
  setPriority(FILE_PRIORITY)
  // Not all that reads takes shared memory.
  const content = Uint8Array.from(raw)
  post({ type: 'done', id, ...(await inTurn(id, () => readFileText({ ...request, content }))) })
}

const start = (message: Extract<ToWorker, { request: object }>): Promise<void> => {
  if (message.type === 'file') return file(message.id, message.request)
  return message.type === 'read' ? read(message.id, message.request) : view(message.id, message.request)
}

const run = (message: Extract<ToWorker, { request: object }>): Promise<void> =>
  start(message).catch((error: unknown) => post({ type: 'failed', id: message.id, reason: messageOf(error) }))

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

/** Publishes which message is worked on until the event loop turns, unless one is being parsed. */
function publishWork(id: number): void {
  if (Atomics.compareExchange(state, PARSING, 0, id) === 0)
    setImmediate(() => Atomics.compareExchange(state, PARSING, id, 0))
}

port.on('message', (message: ToWorker) => {
  Atomics.add(state, TURNS, 1)
  if ('request' in message) void run(message)
  else if (message.type === 'answer') {
    const waiting = lookups.get(message.id)
    if (waiting === undefined) return
    lookups.delete(message.id)
    publishWork(waiting.of)
    if (message.records) waiting.resolve(message.records)
    else waiting.reject(dnsError(message.code ?? 'ESERVFAIL'))
  }
})

post({ type: 'started' })
