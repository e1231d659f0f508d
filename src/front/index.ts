export { type Front, startFront } from './front.ts'
