export { createFindRoute } from './find-route.ts'
