import { useParams } from 'wouter'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { Messages } from './messages.tsx'
import { text } from './strings.ts'
import { Suppressed } from './suppressed.tsx'

const TABS = [
  { href: '/outbox', label: text.messages },
  { href: '/outbox/suppressed', label: text.suppressed },
]

/** What agents send, and to whom they no longer send. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  if (tab !== '' && tab !== 'suppressed') return <Missing />
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      {tab === '' ? <Messages /> : <Suppressed />}
    </Page>
  )
}
