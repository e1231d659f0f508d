export { Streams } from './streams.ts'
