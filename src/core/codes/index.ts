export { findCodes } from './find.ts'
export type { FoundCode } from './found.ts'
export { trackerOf } from './trackers.ts'
