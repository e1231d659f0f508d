import type { ReactNode } from 'react'
import { useParams } from 'wouter'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { DecisionDialog } from './decision.tsx'
import { HeldMessages } from './held-messages.tsx'
import { Questions } from './questions.tsx'
import { RefusedMessages } from './refused-messages.tsx'
import { text } from './strings.ts'
import './waiting.css'

const TABS = [
  { href: '/waiting', label: text.approval },
  { href: '/waiting/questions', label: text.questions },
  { href: '/waiting/refused', label: text.refused },
]

const SCREENS: Readonly<Record<string, () => ReactNode>> = {
  '': HeldMessages,
  questions: Questions,
  refused: RefusedMessages,
}

/** What a member has to decide: messages to approve, questions of agents, and messages that were refused. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  const Shown = SCREENS[tab]
  if (!Shown) return <Missing />
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      <Shown />
      <DecisionDialog />
    </Page>
  )
}
