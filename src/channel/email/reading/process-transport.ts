import { type ChildProcess, fork } from 'node:child_process'
import { messageOf } from '../../../core/errors.ts'
import type { FromProcess, ToWorker, WorkerSettings } from './protocol.ts'
import { compiled, type Transport, type TransportEvents } from './transport.ts'

/**
 * What node and its dates and words depend on. Nothing else of our environment, which holds keys and
 * passwords, reaches the child.
 */
const INHERITED = ['TZ', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'SystemRoot']

/**
 * A process of its own, in which a thread reads. Where V8 finds no memory for its heap it aborts a whole
 * process, and then only that one.
 */
export class ProcessTransport implements Transport {
  readonly #child: ChildProcess
  readonly #closed: Promise<void>
  #parsing = 0
  #turns = 0
  #ended = false

  constructor(settings: WorkerSettings, heapMiB: number, events: TransportEvents) {
    this.#child = fork(PROCESS, [JSON.stringify({ settings, heapMiB })], {
      serialization: 'advanced',
      env: Object.fromEntries(
        INHERITED.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
      ),
      // Not ours: an inspector's port would be taken already.
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    let reason: string | null = null
    this.#child.on('message', (message: FromProcess) => {
      if (message.type === 'state') {
        this.#parsing = message.parsing
        this.#turns = message.turns
        reason = message.ended ?? null
      } else events.message(message)
    })
    const onEnd = (why: string) => {
      if (this.#ended) return
      this.#ended = true
      events.ended(reason ?? why)
    }
    this.#child.on('error', (error) => onEnd(messageOf(error)))
    // Unlike `exit`, it comes after the last message.
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        resolve()
        onEnd(`the process ended with ${signal ?? code}`)
      })
    })
  }

  get parsing(): number {
    return this.#parsing
  }

  get turns(): number {
    return this.#turns
  }

  post(message: ToWorker): void {
    // A child that is gone is heard of by `close`.
    if (!this.#ended && this.#child.connected) this.#child.send(message, () => undefined)
  }

  ref(): void {
    this.#child.ref()
    this.#child.channel?.ref()
  }

  unref(): void {
    this.#child.unref()
    this.#child.channel?.unref()
  }

  async end(): Promise<void> {
    this.#ended = true
    if (!this.#child.kill('SIGKILL')) return
    this.ref()
    await this.#closed
  }
}

const PROCESS = compiled(new URL('./reader-process.js', import.meta.url))
