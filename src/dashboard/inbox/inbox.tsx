import { lazy, Suspense, useState } from 'react'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { LinkButton } from '../parts/button.tsx'
import { InboxIcon, MailIcon } from '../parts/icons.tsx'
import { More } from '../parts/more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useKeys } from '../shell/keys.ts'
import { useTitle } from '../shell/page.tsx'
import { useAgents } from '../shell/viewer.tsx'
import { FirstAgent } from './first-agent.tsx'
import './inbox.css'
import { text } from './strings.ts'
import { ThreadList } from './thread-list.tsx'
import { type Threads, useThreads } from './use-threads.ts'

const Thread = lazy(async () => ({ default: (await import('../thread/thread.tsx')).Thread }))

/** Where a thread of this list is: the address keeps which list it is. */
const useHref = () => {
  const [search] = useSearchParams()
  const agent = search.get('agent')
  const query = agent ? `?agent=${agent}` : ''
  return (id?: string) => `/inbox${id ? `/${id}` : ''}${query}`
}

const useListKeys = ({ rows }: Threads, current: string | undefined, hrefOf: (id?: string) => string) => {
  const [, go] = useLocation()
  const at = rows.findIndex(({ id }) => id === current)
  const move = (step: number) => {
    const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
    if (row) go(hrefOf(row.id), { replace: current !== undefined })
  }
  useKeys([
    { keys: 'j', label: text.next, group: 'list', run: () => move(1) },
    { keys: 'k', label: text.previous, group: 'list', run: () => move(-1) },
    { keys: 'Escape', label: text.back, group: 'list', run: () => go(hrefOf()) },
  ])
}

const Filter = ({ unread, onUnread }: { unread: boolean; onUnread(unread: boolean): void }) => (
  <fieldset className="choices">
    <legend className="unseen">{text.filter}</legend>
    {[false, true].map((value) => (
      <label key={String(value)}>
        <input
          type="radio"
          name="unread"
          className="unseen"
          checked={value === unread}
          onChange={() => onUnread(value)}
        />
        {value ? text.unread : text.all}
      </label>
    ))}
  </fieldset>
)

const None = ({ unread }: { unread: boolean }) => (
  <Empty icon={MailIcon} title={unread ? text.noneUnread : text.none}>
    {!unread && (
      <>
        <p>{text.noneHint}</p>
        <LinkButton href="/agents">{text.howTo}</LinkButton>
      </>
    )}
  </Empty>
)

const Threaded = () => {
  const { thread } = useParams<{ thread?: string }>()
  const [search] = useSearchParams()
  const agentId = search.get('agent')
  const agent = useAgents().find(({ id }) => id === agentId)
  const [unread, setUnread] = useState(false)
  const threads = useThreads({ agentId: agent?.id ?? null, unread })
  const hrefOf = useHref()
  const title = agent ? text.of(agent.name) : text.title
  useTitle(title)
  useListKeys(threads, thread, hrefOf)
  return (
    <div className={thread ? 'inbox reading' : 'inbox'}>
      <section className="inbox-list" aria-label={text.list}>
        <header className="inbox-head">
          <h1>{agent?.name ?? text.title}</h1>
          <Filter unread={unread} onUnread={setUnread} />
        </header>
        <div className="inbox-scroll">
          {threads.loading && <Loading lines={8} />}
          {threads.failure && <Failed failure={threads.failure} onRetry={threads.retry} />}
          {!threads.loading && !threads.failure && threads.rows.length === 0 && <None unread={unread} />}
          <ThreadList rows={threads.rows} current={thread} hrefOf={hrefOf} showAgent={!agent} />
          {threads.hasMore && <More busy={threads.busy} onMore={threads.more} />}
        </div>
      </section>
      <section className="inbox-thread" aria-live="off">
        {thread ? (
          <Suspense fallback={<Loading lines={5} />}>
            <Thread key={thread} id={thread} back={hrefOf()} />
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

export const Screen = () => (useAgents().length === 0 ? <FirstAgent /> : <Threaded />)
