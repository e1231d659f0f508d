export { MOMENTS, type Moment, SUBJECTS, type Trace } from './moment.ts'
export { MOST_FOR_MEMBERS, traceFor } from './trace.ts'
