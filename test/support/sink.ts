import type { Sink } from '../../src/channel/channel.ts'

/** A sink that takes everything, but for what the test has its own mind about. */
export const sinkWith = (own: Partial<Sink> = {}): Sink => ({
  accepts: async () => true,
  inbound: async () => undefined,
  delivery: async () => undefined,
  proof: async () => null,
  bounced: async () => undefined,
  ...own,
})
