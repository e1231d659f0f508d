import { graphql, type ResultOf } from '../live/graphql.ts'

/** What happened to a message, at an address, with a token or by a request. */
export const TRACE = graphql(`
  query Trace($what: String!) {
    workspace {
      id
      trace(what: $what) { kind subject owner agentId threadId moments { at kind subject detail } }
    }
  }
`)

export type Trace = ResultOf<typeof TRACE>['workspace']['trace'][number]
export type Moment = Trace['moments'][number]
