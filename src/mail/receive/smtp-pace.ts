import type { SMTPServerDataStream } from 'smtp-server'
import type { Clock } from '../../core/clock.ts'
import { type Arrival, Arrivals } from '../../core/http/arrivals.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import type { PromptSmtpServer } from './smtp-server.ts'

/** A message that is being received. */
export interface PacedMessage {
  readonly arrival: Arrival
  /** To be called when nothing more of it is received. */
  end(): void
}

/** Ends messages that arrive too slowly or take too long: the client gets an error, and the connection is closed. */
export class SmtpPace {
  readonly #server: PromptSmtpServer
  readonly #limits: SmtpLimits
  readonly #arrivals: Arrivals

  constructor(server: PromptSmtpServer, limits: SmtpLimits, clock: Clock) {
    this.#server = server
    this.#limits = limits
    const { minBytesPerSecond, paceGraceMs: graceMs, paceWindowMs: windowMs, tickMs } = limits
    this.#arrivals = new Arrivals(clock, { minBytesPerSecond, graceMs, windowMs, tickMs })
  }

  watch(stream: SMTPServerDataStream, sessionId: string): PacedMessage {
    const abort = (reason: string) => {
      this.#server.hangUp(sessionId, reason)
      stream.destroy(new Error(reason))
    }
    const timer = setTimeout(() => abort('Message took too long'), this.#limits.dataMs)
    const arrival = this.#arrivals.watch({
      received: () => stream.byteLength,
      starved: () => !stream.readableEnded && stream.readableLength === 0,
      cut: (why) =>
        abort(
          why === 'slow' ? 'Message arrived too slowly' : 'Message arrived slowly, and its place was needed',
        ),
    })
    const end = () => {
      clearTimeout(timer)
      arrival.end()
    }
    return { arrival, end }
  }
}
