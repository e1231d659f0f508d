import type { Setup } from '../agent/index.ts'
import type { Wrong } from './link.ts'
import type { Page } from './page/page.ts'

/** The setup pages of one channel. */
export interface ChannelSetup {
  form(setup: Setup, wrong: Wrong | null): Promise<Page>
  /**
   * Returns null when the link can no longer be used. Throws an `AppError` whose message is shown to the
   * user.
   */
  submit(setup: Setup, token: string, form: URLSearchParams): Promise<Page | null>
  /** Returns the result of a used link if it was not shown on its own page; null when there is none. */
  afterwards?(setup: Setup): Promise<Page | null>
}
