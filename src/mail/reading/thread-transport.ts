import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../../core/errors.ts'
import {
  type FromWorker,
  PARSING,
  STATE_SLOTS,
  type ToWorker,
  TURNS,
  type WorkerSettings,
} from './protocol.ts'
import { toSharedMemory } from './shared-bytes.ts'
import { bundled, type Transport, type TransportEvents } from './transport.ts'

/**
 * V8 lets a heap of which the maximum is small grow by a third until it collects all of it: after every hundred mails. It may
 * double instead. This also holds for the main thread, whose heap might become four times as large otherwise (with a maximum of 2 GB
 * and more): it collects somewhat more often, and takes less memory. See docs/decisions.md#time-to-read-mail.
 */
const collectSeldom = () => setFlagsFromString('--heap-growing-percent=100')

/** Runs the worker in a thread of this process. The worker publishes its state in shared memory. */
export class ThreadTransport implements Transport {
  readonly #worker: Worker
  readonly #state = new Int32Array(new SharedArrayBuffer(STATE_SLOTS * Int32Array.BYTES_PER_ELEMENT))
  #ended = false

  constructor(settings: WorkerSettings, heapMiB: number, events: TransportEvents) {
    collectSeldom()
    this.#worker = new Worker(WORKER, {
      workerData: { settings, state: this.#state },
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      // Libraries print to the console for some mail (mailauth does for `l=`); our stdout is reserved for the
      // ready line.
      stdout: true,
    })
    this.#worker.stdout.resume()
    this.#worker.on('message', (message: FromWorker) => events.message(message))
    const onEnd = (reason: string) => {
      if (this.#ended) return
      this.#ended = true
      events.ended(reason)
    }
    this.#worker.on('error', (error) => onEnd(messageOf(error)))
    this.#worker.on('exit', (code) => onEnd(`thread exited with code ${code}`))
  }

  get parsing(): number {
    return Atomics.load(this.#state, PARSING)
  }

  get turns(): number {
    return Atomics.load(this.#state, TURNS)
  }

  post(message: ToWorker): void {
    if (!this.#ended) this.#worker.postMessage('request' in message ? withSharedBytes(message) : message)
  }

  ref(): void {
    this.#worker.ref()
  }

  unref(): void {
    this.#worker.unref()
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.#worker.terminate()
  }
}

const withSharedBytes = (message: Extract<ToWorker, { request: object }>): ToWorker => {
  const raw = toSharedMemory(message.request.raw)
  return { ...message, request: { ...message.request, raw } } as ToWorker
}

const WORKER = bundled('reader-worker')
