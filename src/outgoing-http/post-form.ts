import type { Dialler } from './dial.ts'
import { createFetch } from './fetch.ts'

/** Posts a form to a URL that a stranger named. Resolves with the status of the response. */
export type PostForm = (url: string, body: string) => Promise<number>

const TIMEOUT_MS = 10_000

/** Posts forms as `createFetch` sends requests, within 10 seconds; nothing of the response is read but its status. */
export const createPostForm = (dialler: Dialler): PostForm => {
  const fetch = createFetch(dialler, { timeoutMs: TIMEOUT_MS, withBody: false })
  return async (url, body) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status } = await fetch({ url, method: 'POST', headers, body })
    return status
  }
}
