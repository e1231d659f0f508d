import type { StreamLimits } from '../../src/workspace/limit/stream-places.ts'

/** No limits on streams, for tests and benchmarks of other features. */
export const UNLIMITED: StreamLimits = {
  perToken: Number.MAX_VALUE,
  perAgent: Number.MAX_VALUE,
  perWorkspace: Number.MAX_VALUE,
}
