import { Client } from 'undici'
import { eventIdOf, type LoggedEvent } from '../../src/event/event.ts'
import { payloadOf } from '../../src/webhook/payload.ts'
import { keyOf, signedHeaders } from '../../src/webhook/post/sign.ts'

/** Returns a function that posts events to an endpoint, signed, one after the other, over one connection. */
export const createPoster = ({ url, secret }: { url: string; secret: string }) => {
  const { origin, pathname: path } = new URL(url)
  const client = new Client(origin)
  const keys = [keyOf(secret)]
  let queue = Promise.resolve()
  const post = (event: LoggedEvent): Promise<void> => {
    const body = Buffer.from(payloadOf({ ...event, agentName: 'Scout' }))
    const headers = signedHeaders(keys, eventIdOf(event), new Date(), body)
    return new Promise((resolve, reject) => {
      client.dispatch(
        { path, method: 'POST', headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: () => undefined,
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  }
  return (event: LoggedEvent): void => {
    queue = queue.then(() => post(event))
  }
}
