export { findCodes } from './find.ts'
export type { FoundCode } from './found.ts'
