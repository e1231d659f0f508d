import type { Dialler } from './dial.ts'

/** Fetches a document from the public internet; any status other than 200 is an error. */
export type Get = (url: string) => Promise<Buffer>

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024

/**
 * Sends GETs over guarded connections, which check the address that is dialled: no redirects, at most 64 KiB,
 * within 5 seconds in total. Rejects with an error for the log.
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
        () => connection.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)),
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
          if (size > MAX_BYTES) controller.abort(new Error(`the response is longer than ${MAX_BYTES} bytes`))
          else chunks.push(chunk)
        },
        onResponseEnd: () =>
          settle(() =>
            status === 200
              ? resolve(Buffer.concat(chunks))
              : reject(new Error(`the response status was ${status}`)),
          ),
        onResponseError: (_controller, error) => settle(() => reject(error)),
      })
    })
  }
