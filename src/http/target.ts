import type { IncomingMessage } from 'node:http'
import { invalidInput } from '../core/errors.ts'

const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.toLowerCase() === 'host') count++
  return count
}

/** `http://host/path?query`, as sent by clients of proxies (RFC 9112 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]+(?<path>\/[^?#]*)?(?<query>\?[^#]*)?$/i

/**
 * Returns the path and query of a request. Throws `invalid_input` when the target is not a path, or Host is
 * not given exactly once (RFC 9112 3.2; HTTP/1.0 may omit it).
 */
export const targetOf = (request: IncomingMessage): string => {
  const hosts = countHosts(request)
  if (hosts === 0 && request.httpVersion === '1.0') request.headers.host = 'localhost'
  else if (hosts === 0) throw invalidInput('Host', 'is required')
  else if (hosts > 1) throw invalidInput('Host', 'must be given once')
  const url = request.url ?? ''
  if (url.startsWith('/')) return url
  const absolute = ABSOLUTE_FORM.exec(url)?.groups
  if (!absolute) throw invalidInput('request', 'its target must be a path')
  return `${absolute.path ?? '/'}${absolute.query ?? ''}`
}
