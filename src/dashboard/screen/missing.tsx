import { LinkButton } from '../parts/button.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { Empty } from '../parts/states.tsx'
import { Page } from './page.tsx'
import { text } from './strings.ts'

/** What is shown for an address that has no screen. */
export const Missing = () => (
  <Page title={text.missing}>
    <Empty icon={SearchIcon} title={text.missingHint}>
      <LinkButton href="/inbox">{text.toInbox}</LinkButton>
    </Empty>
  </Page>
)
