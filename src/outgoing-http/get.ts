import type { Dialler } from './dial.ts'
import { createFetch } from './fetch.ts'

/** Fetches a document; any status other than 200 is an error. */
export type Get = (url: string) => Promise<Buffer>

/** Returns a function that fetches documents as `createFetch` does. */
export const createGet = (dialler: Dialler): Get => {
  const fetch = createFetch(dialler)
  return async (url) => {
    const { status, body } = await fetch({ url, method: 'GET' })
    if (status !== 200) throw new Error(`the response status was ${status}`)
    return body
  }
}
