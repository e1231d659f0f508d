import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'

const AGENT = graphql(`
  query WritingAgent($id: UUID!) {
    agent(id: $id) { id addresses { channel value } signature templates { name text } }
  }
`)

/** What of an agent is used when a message is written as it. */
export type Agent = Pick<ResultOf<typeof AGENT>['agent'], 'addresses' | 'signature' | 'templates'>

const NONE: Agent = { addresses: [], signature: null, templates: [] }

export const useWritingAgent = (id: string): Agent => useLive(AGENT, { id }, ['agents']).data?.agent ?? NONE

/** What an email begins with: the agent's signature, below the place where one writes. */
export const signed = ({ signature }: Agent, channel: string): string =>
  signature && channel === 'email' ? `\n\n${signature}` : ''
