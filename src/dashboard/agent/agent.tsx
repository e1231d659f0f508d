import { Suspense } from 'react'
import { useParams } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { LinkButton } from '../parts/button.tsx'
import { InboxIcon } from '../parts/icons.tsx'
import { Loading } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { useAgents } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import { AGENT_TABS } from './tabs.ts'

/** One agent: its name, its tabs, and the screen of the chosen tab. */
export const Screen = () => {
  const { agent: id = '', tab = '' } = useParams<{ agent: string; tab?: string }>()
  const agent = useAgents().find((one) => one.id === id)
  const chosen = AGENT_TABS.find(({ path }) => path === tab)
  if (!agent || !chosen) return <Missing />
  const base = `/agents/${id}`
  const tabs = AGENT_TABS.map(({ path, label }) => ({ href: path ? `${base}/${path}` : base, label }))
  return (
    <Page
      key={id}
      title={agent.name}
      before={<AgentIcon name={agent.icon} size={20} />}
      actions={
        <LinkButton href={`/inbox?agent=${id}`} icon={InboxIcon}>
          {text.toInbox}
        </LinkButton>
      }
      below={tabs.length > 1 && <Tabs label={text.tabs} tabs={tabs} />}
    >
      <Suspense fallback={<Loading />}>
        <chosen.Screen agentId={id} />
      </Suspense>
    </Page>
  )
}
