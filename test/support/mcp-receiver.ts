import type { Answer, Received } from './receiver.ts'

/**
 * Responds to challenges as a subscriber does, and to everything else with the status that `then` returns.
 */
export const proving =
  (then: (got: Received) => number = () => 204): Answer =>
  (res, got) => {
    const body = JSON.parse(got.body)
    if (body.type !== 'verification') return void res.writeHead(then(got)).end()
    res
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ challenge: body.challenge }))
  }

export const bodyOf = ({ body }: Received) => JSON.parse(body)

/** Filters out verification challenges. */
export const withoutChallenges = (received: readonly Received[]): Received[] =>
  received.filter((got) => bodyOf(got).type !== 'verification')
