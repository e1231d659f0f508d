import type { Dialler } from './dial.ts'

/** Posts a form to a URL that a stranger named. Resolves with the status of the response. */
export type PostForm = (url: string, body: string) => Promise<number>

const TIMEOUT_MS = 10_000

/**
 * Posts forms over guarded connections, which check the address that is dialled: no redirects and no cookies,
 * within 10 seconds, and nothing of the response is read but its status. Rejects with an error for the log.
 */
export const createPostForm =
  (dialler: Dialler): PostForm =>
  (url, body) => {
    const connection = dialler.connectionTo(url)
    const bytes = Buffer.from(body)
    const headers = ['content-type', 'application/x-www-form-urlencoded', 'content-length', `${bytes.length}`]
    return new Promise<number>((resolve, reject) => {
      const timer = setTimeout(
        () => connection.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)),
        TIMEOUT_MS,
      )
      const settle = (act: () => void) => {
        clearTimeout(timer)
        connection.destroy(new Error('done'))
        act()
      }
      connection.post(headers, bytes, {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status) => {
          if (status >= 200) settle(() => resolve(status))
        },
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: (_controller, error) => settle(() => reject(error)),
      })
    })
  }
