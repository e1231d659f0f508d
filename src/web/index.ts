export { createOauth } from './oauth/oauth.ts'
export { createWeb } from './web.ts'
