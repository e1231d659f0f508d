import { graphql, type ResultOf } from '../live/graphql.ts'

/** The workspace’s domains, with the DNS records that they need. */
export const DOMAINS = graphql(`
  query Domains {
    workspace {
      id
      domains {
        id name state checkedAt catchAllAgentId
        records { purpose type name value priority required ok found problem }
      }
    }
  }
`)

export type Domain = ResultOf<typeof DOMAINS>['workspace']['domains'][number]
