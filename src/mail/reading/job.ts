import { invalidInput } from '../../core/errors.ts'
import type { Origin } from './fair-queue.ts'
import type { Result, Stage, ToWorker } from './protocol.ts'
import type { Cost } from './source-costs.ts'

/** What a worker is asked to do, without the id. */
export type Work = { [Type in Kind]: Omit<Extract<ToWorker, { type: Type }>, 'id'> }[Kind]
type Kind = 'read' | 'view' | 'file'

/** A message to be read or shown, or a file to be read, and its state in the pool. */
export interface Job extends Origin {
  raw: Uint8Array
  /** Returns what the worker is asked to do, without the stages to skip. */
  work(skip: readonly Stage[]): Work
  /** Stages that can be left out; a file has none. */
  stages: readonly Stage[]
  /** Those to skip because they blocked or crashed a worker. */
  skip: Stage[]
  /**
   * Must be the only message of its worker: it crashed one, or was in a worker that crashed for an unknown
   * reason.
   */
  alone: boolean
  /**
   * The message, or earlier ones of its source, blocked a worker. One worker is kept free of slow messages.
   */
  slow: boolean
  /** When it began to wait for DNS; null before. */
  waitingSince: number | null
  waitUntil: number
  /** The costs that it counts towards while it is being read. */
  costs: readonly Cost[]
  timer: NodeJS.Timeout
  resolve(result: Result): void
  reject(error: Error): void
}

/** Cancels the timeout and completes the job. */
export const settle = (job: Job, complete: () => void): void => {
  clearTimeout(job.timer)
  complete()
}

export const unreadable = ({ stages }: Job) =>
  invalidInput(
    stages.length > 0 ? 'message' : 'attachment',
    'takes more time or memory to read than is allowed',
  )
