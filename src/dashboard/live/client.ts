import { Client, cacheExchange, fetchExchange, mapExchange } from 'urql'
import { failureOf } from './failure.ts'
import { gatheringFetch } from './fetch.ts'
import { askToSignIn } from './sign-in.ts'

/** Shows the service that the request was made by a page of its own: other sites cannot send this header. */
export const OWN_HEADERS = { 'X-Requested-By': 'app' }

/**
 * Documents are cached as a whole, by their variables. A mutation makes the cached results stale that contain
 * an object of a type that it returned.
 */
export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  requestPolicy: 'cache-and-network',
  fetch: gatheringFetch,
  fetchOptions: { headers: OWN_HEADERS },
  exchanges: [
    mapExchange({
      onError: (error) => {
        if (failureOf(error)?.code === 'unauthorized') askToSignIn()
      },
    }),
    cacheExchange,
    fetchExchange,
  ],
})
