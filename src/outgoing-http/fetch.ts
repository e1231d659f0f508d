import type { IncomingHttpHeaders } from 'node:http'
import type { Dialler } from './dial.ts'

/** A request to a URL that a user named. */
export interface OutgoingRequest {
  url: string
  method: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  /** Of a POST. */
  body?: string
}

export interface OutgoingResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Sends a request and reads the whole response, whatever its status. */
export type Fetch = (request: OutgoingRequest) => Promise<OutgoingResponse>

/** How long to wait for a response, in milliseconds, and how much of it is read: by default, at most 64 KiB. */
export interface Reading {
  timeoutMs?: number
  withBody?: boolean
}

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024

/**
 * Sends requests over guarded connections, which check the address that is dialled: no redirects and no cookies, at most
 * 64 KiB, within 5 seconds in total. Without a body, nothing of the response is read but its status and headers. Rejects
 * with an error for the log.
 */
export const createFetch =
  (dialler: Dialler, { timeoutMs = TIMEOUT_MS, withBody = true }: Reading = {}): Fetch =>
  ({ url, method, headers = {}, body = '' }) => {
    const connection = dialler.connectionTo(url)
    const bytes = Buffer.from(body)
    const lines = Object.entries(headers).flat()
    return new Promise<OutgoingResponse>((resolve, reject) => {
      const response: OutgoingResponse = { status: 0, headers: {}, body: Buffer.alloc(0) }
      const chunks: Buffer[] = []
      let size = 0
      const timer = setTimeout(
        () => connection.destroy(new Error(`no response within ${timeoutMs} ms`)),
        timeoutMs,
      )
      const settle = (act: () => void) => {
        clearTimeout(timer)
        connection.destroy(new Error('done'))
        act()
      }
      const finish = () => settle(() => resolve({ ...response, body: Buffer.concat(chunks) }))
      const handler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller: unknown, status: number, headers: IncomingHttpHeaders) => {
          Object.assign(response, { status, headers })
          if (!withBody && status >= 200) finish() // 100, 103: the final response follows
        },
        onResponseData: (controller: { abort(error: Error): void }, chunk: Buffer) => {
          size += chunk.length
          if (size > MAX_BYTES) controller.abort(new Error(`the response is longer than ${MAX_BYTES} bytes`))
          else chunks.push(chunk)
        },
        onResponseEnd: finish,
        onResponseError: (_controller: unknown, error: Error) => settle(() => reject(error)),
      }
      if (method === 'GET') connection.get(handler, lines)
      else connection.post([...lines, 'content-length', `${bytes.length}`], bytes, handler)
    })
  }
