import { Page } from '../shell/page.tsx'
import { DecisionDialog } from './decision.tsx'
import { HeldMessages } from './held-messages.tsx'
import { RefusedMessages } from './refused-messages.tsx'
import { text } from './strings.ts'
import './waiting.css'

/** What a member has to decide: messages to approve, and messages that were refused. */
export const Screen = () => (
  <Page title={text.title}>
    <HeldMessages />
    <RefusedMessages />
    <DecisionDialog />
  </Page>
)
