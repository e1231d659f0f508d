import type { Answer, Received } from './receiver.ts'

/** Answers challenges as a subscriber does, and everything else with what `then` says. */
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

/** What came that is no challenge. */
export const withoutChallenges = (received: readonly Received[]): Received[] =>
  received.filter((got) => bodyOf(got).type !== 'verification')
