import { useParams } from 'wouter'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../shell/missing.tsx'
import { Page } from '../shell/page.tsx'
import './health.css'
import { Mail } from './mail.tsx'
import { text } from './strings.ts'
import { Webhooks } from './webhooks.tsx'

const TABS = [
  { href: '/health', label: text.webhooks },
  { href: '/health/mail', label: text.mail },
]

/** Whether what agents send and report arrives, and why not. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  if (tab !== '' && tab !== 'mail') return <Missing />
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      {tab === '' ? <Webhooks /> : <Mail />}
    </Page>
  )
}
