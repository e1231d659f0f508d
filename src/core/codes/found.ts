import type { Purpose } from './purpose.ts'

/** A code or a link that somebody asked for, such as to sign in. */
export interface FoundCode {
  value: string
  kind: 'code' | 'link'
  purpose: Purpose
  /** The host that a link leads to. */
  host?: string
  /** The service that counts the clicks on a link, if the link leads through one. */
  tracker?: string
}
