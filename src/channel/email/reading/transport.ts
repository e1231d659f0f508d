import type { FromWorker, ToWorker, WorkerSettings } from './protocol.ts'

/**
 * What is said between us and a worker that reads mail, be it a thread of this process or a process of its
 * own.
 */
export interface Transport {
  /** The id of the message that the worker parses; 0: none. */
  readonly parsing: number
  /** Changes when the worker's event loop turns. */
  readonly turns: number
  post(message: ToWorker): void
  /** Lets this process live for as long as the worker does; `unref` lets it end. */
  ref(): void
  unref(): void
  /** Ends the worker, whatever it is doing. */
  end(): Promise<void>
}

export interface TransportEvents {
  message(message: FromWorker): void
  /** The worker ended by itself. Called once at most, after its last message. */
  ended(reason: string): void
}

export type OpenTransport = (settings: WorkerSettings, heapMiB: number, events: TransportEvents) => Transport

/**
 * A file of this folder as compiled: a worker does not inherit the loader of a process that runs from source
 * (tests, benchmarks).
 */
export const compiled = (file: URL): URL =>
  new URL(file.href.replace('/src/channel/email/', '/dist/channel/email/'))
