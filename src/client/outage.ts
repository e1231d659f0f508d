import type { AmsError } from './errors.ts'

export type OnWaiting = (error: AmsError) => void

interface Process {
  emitWarning?(message: string, type: string): void
}

/** On standard error. (A browser's console shows failed requests anyway.) */
const warn: OnWaiting = ({ message }) => {
  const { process } = globalThis as { process?: Process }
  process?.emitWarning?.(`waiting for the service: ${message}`, 'AmsWarning')
}

/** Tells once that the service gives no answer and requests are repeated, until it answers again. */
export class Outage {
  readonly #tell: OnWaiting
  #isTold = false

  constructor(tell: OnWaiting = warn) {
    this.#tell = tell
  }

  waiting(error: AmsError): void {
    if (this.#isTold || error.status === 409 || error.status === 429) return
    this.#isTold = true
    this.#tell(error)
  }

  over(): void {
    this.#isTold = false
  }
}
