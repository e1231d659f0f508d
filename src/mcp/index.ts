export { createMcp } from './server.ts'
