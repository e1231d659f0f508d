import type { ReadMail, Stage } from './protocol.ts'
import type { Reading } from './reader.ts'

/** A message to be read, and its state in the pool. */
export interface Job extends Reading {
  /** Stages to skip because they blocked or crashed a worker. */
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
  waitUntil: number
  timer: NodeJS.Timeout
  resolve(mail: ReadMail): void
  reject(error: Error): void
}

/** Cancels the timeout and completes the job. */
export const settle = (job: Job, complete: () => void): void => {
  clearTimeout(job.timer)
  complete()
}
