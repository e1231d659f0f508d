export { listenerOf } from './listener.ts'
export { createRest } from './router.ts'
