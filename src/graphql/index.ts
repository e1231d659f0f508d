export { createGraphql } from './transport/handler.ts'
