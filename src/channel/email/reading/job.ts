import type { ReadMail, Stage } from './protocol.ts'
import type { Reading } from './reader.ts'

/** A message to be read, and how. */
export interface Job extends Reading {
  /** Stages that are left out, because they blocked a worker or ended it. */
  skip: Stage[]
  /** Has a worker to itself: it ended one, or was in one that ended over nobody knows which message. */
  alone: boolean
  /**
   * It blocked a worker before, or its source's messages do: slow messages leave one worker to the others.
   */
  slow: boolean
  waitUntil: number
  timer: NodeJS.Timeout
  resolve(mail: ReadMail): void
  reject(error: Error): void
}

/** Ends it, one way or the other. */
export const settle = (job: Job, act: () => void): void => {
  clearTimeout(job.timer)
  act()
}
