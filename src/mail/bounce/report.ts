import type { BounceReport } from '../../core/channel/inbound.ts'

/** What a bounce or complaint reports: the recipients that were not reached, or that complained. */
export interface Report extends Pick<BounceReport, 'kind' | 'recipients' | 'detail'> {
  /** For a complaint: the reverse path of the mail it is about, if the report contains it. */
  reversePath?: string
}
