import { useParams } from 'wouter'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { text as trace } from '../trace/strings.ts'
import { Happened } from '../trace/trace.tsx'
import './health.css'
import { Mail } from './mail.tsx'
import { text } from './strings.ts'
import { Webhooks } from './webhooks.tsx'

const TABS = [
  { href: '/health', label: text.webhooks },
  { href: '/health/mail', label: text.mail },
  { href: '/health/trace', label: trace.title },
]

const PARTS = { '': Webhooks, mail: Mail, trace: Happened } as const

/** Whether what agents send and report arrives, and why not. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  if (!Object.hasOwn(PARTS, tab)) return <Missing />
  const Part = PARTS[tab as keyof typeof PARTS]
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      <Part />
    </Page>
  )
}
