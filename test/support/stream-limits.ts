import type { StreamLimits } from '../../src/workspace/stream-places.ts'

/** For tests and benchmarks of other things: as many streams as anybody likes. */
export const UNLIMITED: StreamLimits = {
  perToken: Number.MAX_VALUE,
  perAgent: Number.MAX_VALUE,
  perWorkspace: Number.MAX_VALUE,
}
