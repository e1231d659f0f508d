import type { Sink } from '../../src/core/channel/inbound.ts'

/** Returns a sink that accepts everything, except where the test overrides it. */
export const sinkWith = (own: Partial<Sink> = {}): Sink => ({
  accepts: async () => true,
  inbound: async () => undefined,
  delivery: async () => undefined,
  proof: async () => null,
  answer: async () => null,
  bounced: async () => undefined,
  ...own,
})
