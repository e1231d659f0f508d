import type { Check, Inbound, Sink } from '../channel.ts'
import { withPostmaster } from './postmaster.ts'
import { type ReceiveOptions, understand } from './receive.ts'
import type { ReturnPaths } from './return-path.ts'
import { type ReturnedDeps, takeReturned } from './returned.ts'
import type { Envelope } from './verify.ts'

/** What is known of a hand-over beside the message and its envelope. */
export interface HandOver {
  /** Its own id: the same hand-over again is no other message, even without a Message-ID. */
  deliveryId?: string
  /** Evidence from those who handed it over. */
  checks?: Check[]
}

/** Takes mail in, whichever way it came: for agents, the postmaster, and our own return paths. */
export interface Reception {
  /** Whether somebody has this normalized address. */
  accepts(address: string): Promise<boolean>
  /** Resolves once the message is committed for every recipient. */
  deliver(raw: Buffer, envelope: Envelope, recipients: string[], handOver?: HandOver): Promise<void>
}

interface ReceptionOptions extends ReceiveOptions, Omit<ReturnedDeps, 'sink'> {
  postmaster?: ((message: Inbound) => Promise<void>) | undefined
  returnPaths: ReturnPaths | null
}

export function createReception(sink: Sink, options: ReceptionOptions): Reception {
  const { returnPaths, mailDomain, postmaster } = options
  const door = withPostmaster(sink, { mailDomain, ...(postmaster ? { postmaster } : {}) })
  return {
    accepts: async (address) => (returnPaths?.messageOf(address) ?? null) !== null || door.accepts(address),
    async deliver(raw, envelope, recipients, { deliveryId, checks = [] } = {}) {
      const letters = await takeReturned(raw, recipients, { ...options, sink })
      if (letters.length === 0) return
      const message = await understand(raw, envelope, letters, options)
      await door.inbound({ ...message, ...(deliveryId ? { deliveryId } : {}), checks: [...message.checks, ...checks] })
    },
  }
}
