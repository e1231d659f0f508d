export { LiveWorkers } from './live-workers.ts'
export { LATE_MS, OwnedParts } from './owned-parts.ts'
export { isAmongParts } from './part.ts'
