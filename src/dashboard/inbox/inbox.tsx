import { lazy, Suspense, useRef } from 'react'
import { useParams } from 'wouter'
import { LinkButton } from '../parts/button.tsx'
import { BotIcon, InboxIcon } from '../parts/icons.tsx'
import { useMarked } from '../parts/list/use-marked.ts'
import { Empty, Loading } from '../parts/states.tsx'
import { Page, useTitle } from '../screen/page.tsx'
import { useAgents } from '../screen/viewer.tsx'
import { FirstAgent } from './first-agent.tsx'
import './inbox.css'
import { ListPane } from './list-pane.tsx'
import { text } from './strings.ts'
import { useCursor } from './use-cursor.ts'
import { type List, useList } from './use-list.ts'
import { useRows } from './use-rows.ts'

const Thread = lazy(async () => ({ default: (await import('../thread/thread.tsx')).Thread }))

const Threaded = ({ list }: { list: List }) => {
  const { thread } = useParams<{ thread?: string }>()
  const { agent, search, hrefOf } = list
  const rows = useRows(search)
  const pane = useRef<HTMLElement>(null)
  const reading = useRef<HTMLElement>(null)
  const cursor = useCursor(pane, { rows: rows.rows, thread, list: JSON.stringify(search), hrefOf })
  useTitle(agent ? text.of(agent.name) : text.title)
  useMarked(reading, list.sought)
  return (
    <div className={thread ? 'inbox reading' : 'inbox'}>
      <ListPane ref={pane} list={list} rows={rows} cursor={cursor} thread={thread} />
      <section className="inbox-thread" aria-label={text.reading} ref={reading}>
        {thread ? (
          <Suspense fallback={<Loading lines={5} />}>
            <Thread key={thread} id={thread} back={hrefOf()} onNext={cursor.next} />
          </Suspense>
        ) : (
          <Empty icon={InboxIcon} title={text.choose}>
            <p>{text.chooseHint}</p>
          </Empty>
        )}
      </section>
    </div>
  )
}

const Agents = () => {
  const list = useList()
  if (!list.isOfNobody) return <Threaded list={list} />
  return (
    <Page title={text.title}>
      <Empty icon={BotIcon} title={text.noAgent}>
        <p>{text.noAgentHint}</p>
        <LinkButton href="/inbox">{text.allAgents}</LinkButton>
      </Empty>
    </Page>
  )
}

export const Screen = () => (useAgents().length === 0 ? <FirstAgent title={text.title} /> : <Agents />)
