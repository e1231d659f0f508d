import type { Dialler } from './dial.ts'

/** Fetches a document from the public internet: 200 or nothing. */
export type Get = (url: string) => Promise<Buffer>

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024

/**
 * GETs over guarded connections, checked at the address that is dialled: no redirects, at most 64 KiB, 5
 * seconds for all of it. Rejects with what went wrong, for the log.
 */
export const createGet =
  (dialler: Dialler): Get =>
  (url) => {
    const connection = dialler.connectionTo(url)
    return new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      let status = 0
      const timer = setTimeout(
        () => connection.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)),
        TIMEOUT_MS,
      )
      const settle = (act: () => void) => {
        clearTimeout(timer)
        connection.destroy(new Error('done'))
        act()
      }
      connection.get({
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code) => {
          status = code
        },
        onResponseData: (controller, chunk) => {
          size += chunk.length
          if (size > MAX_BYTES) controller.abort(new Error(`the answer is longer than ${MAX_BYTES} bytes`))
          else chunks.push(chunk)
        },
        onResponseEnd: () =>
          settle(() =>
            status === 200 ? resolve(Buffer.concat(chunks)) : reject(new Error(`the answer was ${status}`)),
          ),
        onResponseError: (_controller, error) => settle(() => reject(error)),
      })
    })
  }
