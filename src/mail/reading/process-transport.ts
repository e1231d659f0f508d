import { type ChildProcess, fork } from 'node:child_process'
import { messageOf } from '../../core/errors.ts'
import type { FromProcess, ToWorker, WorkerSettings } from './protocol.ts'
import { bundled, type Transport, type TransportEvents } from './transport.ts'

/**
 * Variables that Node.js and its locale support need. The rest of the environment, which contains keys and
 * passwords, is not passed to the child.
 */
const INHERITED = ['TZ', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'SystemRoot']

/**
 * Runs the worker thread in a child process. When V8 cannot allocate memory for the heap it aborts the whole
 * process; this way, only the child is lost.
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
      // Not inherited: the inspector port would already be in use.
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
    // Unlike `exit`, `close` is emitted after the last message.
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        resolve()
        onEnd(`process exited with ${signal ?? `code ${code}`}`)
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
    // Send errors are ignored: if the child has exited, `close` reports it.
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

const PROCESS = bundled('reader-process')
