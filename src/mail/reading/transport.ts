import { join } from 'node:path'
import { ROOT } from '../../core/root.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './protocol.ts'

/** Connection to a worker that reads mail, either a thread of this process or a child process. */
export interface Transport {
  /** Id of the message being parsed; 0 when there is none. */
  readonly parsing: number
  /** Counter that changes whenever the worker's event loop turns. */
  readonly turns: number
  post(message: ToWorker): void
  /** Keeps this process alive as long as the worker runs; `unref` undoes that. */
  ref(): void
  unref(): void
  /** Stops the worker immediately, whatever it is doing. */
  end(): Promise<void>
}

export interface TransportEvents {
  message(message: FromWorker): void
  /** The worker exited on its own. Called at most once, after its last message. */
  ended(reason: string): void
}

export type OpenTransport = (settings: WorkerSettings, heapMiB: number, events: TransportEvents) => Transport

/**
 * The bundle of a file in this folder, by its name. Workers do not inherit the loader of a process that runs from
 * source (tests, benchmarks).
 */
export const bundled = (name: 'reader-process' | 'reader-worker'): string => join(ROOT, 'dist', `${name}.js`)
