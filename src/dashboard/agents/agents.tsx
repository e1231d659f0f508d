import { useState } from 'react'
import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { BotIcon, PlusIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { Page } from '../screen/page.tsx'
import { useViewer } from '../screen/viewer.tsx'
import './agents.css'
import { NewAgent } from './new-agent.tsx'
import { text } from './strings.ts'

const AGENTS = graphql(`
  query Agents {
    agents {
      id name icon unreadCount
      addresses { id channel value primary }
      lastMessage { id createdAt }
    }
  }
`)

type Agent = ResultOf<typeof AGENTS>['agents'][number]

const Addresses = ({ agent }: { agent: Agent }) => (
  <ul>
    {agent.addresses.map(({ id, value }) => (
      <li key={id} className="agent-address">
        <span>{value}</span>
        <CopyButton value={value} what={value} />
      </li>
    ))}
  </ul>
)

const COLUMNS: readonly Column<Agent>[] = [
  {
    title: text.columns.agent,
    cell: ({ id, name, icon }) => (
      <Link href={`/agents/${id}`} className="agent-name">
        <AgentIcon name={icon} />
        {name}
      </Link>
    ),
  },
  { title: text.columns.address, cell: (agent) => <Addresses agent={agent} />, wide: true },
  { title: text.columns.unread, right: true, cell: ({ unreadCount }) => unreadCount || '' },
  {
    title: text.columns.last,
    right: true,
    cell: ({ lastMessage }) =>
      lastMessage ? <Time at={lastMessage.createdAt} /> : <span className="soft">{text.never}</span>,
  },
]

export const Screen = () => {
  const agents = useLive(AGENTS, {}, ['agents', 'messages'])
  const { may } = useViewer()
  const [creating, setCreating] = useState(false)
  const create = may.createAgents && (
    <Button kind="primary" icon={PlusIcon} onClick={() => setCreating(true)}>
      {text.create}
    </Button>
  )
  return (
    <Page title={text.title} actions={create}>
      <Load from={agents}>
        {({ agents: all }) =>
          all.length > 0 ? (
            <div className="panel">
              <Table label={text.list} columns={COLUMNS} rows={all} keyOf={({ id }) => id} />
            </div>
          ) : (
            <Empty icon={BotIcon} title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          )
        }
      </Load>
      {creating && <NewAgent onClose={() => setCreating(false)} />}
    </Page>
  )
}
