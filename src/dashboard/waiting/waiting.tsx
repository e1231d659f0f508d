import { useParams } from 'wouter'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { DecisionDialog } from './decision.tsx'
import { HeldMessages } from './held-messages.tsx'
import { RefusedMessages } from './refused-messages.tsx'
import { text } from './strings.ts'
import './waiting.css'

const TABS = [
  { href: '/waiting', label: text.approval },
  { href: '/waiting/refused', label: text.refused },
]

/** What a member has to decide: messages to approve, and messages that were refused. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  if (tab !== '' && tab !== 'refused') return <Missing />
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      {tab === '' ? <HeldMessages /> : <RefusedMessages />}
      <DecisionDialog />
    </Page>
  )
}
