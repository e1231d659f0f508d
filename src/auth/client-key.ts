import type { IncomingMessage } from 'node:http'
import { clientOf } from '../core/http/http.ts'

/**
 * Returns what limits of signing in count for the client of a request; '' for a proxy that does not say who its client
 * is, which may stand for everyone.
 */
export const clientKeyOf = (request: IncomingMessage): string =>
  clientOf(request) || (request.headers['x-forwarded-for'] || request.headers.forwarded ? '' : 'this machine')
