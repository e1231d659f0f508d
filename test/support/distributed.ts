import { inject } from 'vitest'

/** Whether the run's databases are distributed with Citus (`npm run test:citus`). */
export const isDistributed: boolean = inject('postgres').workers !== undefined
