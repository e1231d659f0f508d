import { type RefObject, useRef } from 'react'
import { useLocation } from 'wouter'
import { Button, LinkButton } from '../parts/button.tsx'
import { CircleCheckIcon, ClockIcon, MailIcon, PencilIcon, SearchIcon } from '../parts/icons.tsx'
import { More } from '../parts/list/more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { type Binding, useKeys } from '../screen/keys.ts'
import { useArrival } from '../screen/page.tsx'
import { BulkBar } from './bulk.tsx'
import { RowList } from './row-list.tsx'
import { SearchField } from './search-field.tsx'
import { text } from './strings.ts'
import type { Cursor } from './use-cursor.ts'
import type { List } from './use-list.ts'
import { useRowTriage, useTriageKeys } from './use-row-triage.tsx'
import type { Rows } from './use-rows.ts'
import { type Selection, useSelection } from './use-selection.ts'
import { Filters, Views } from './views.tsx'

/** What a list without rows says: an inbox where everything is done, or which never had anything. */
const None = ({ list: { query, search } }: { list: List }) => {
  if (query === '')
    return (
      <Empty icon={CircleCheckIcon} title={text.allDone}>
        <p>{text.allDoneHint}</p>
        <LinkButton href="/agents">{text.howTo}</LinkButton>
      </Empty>
    )
  if (query === 'is:snoozed' || query === 'is:done')
    return (
      <Empty
        icon={search.state === 'done' ? CircleCheckIcon : ClockIcon}
        title={search.state === 'done' ? text.noneDone : text.noneSnoozed}
      />
    )
  if (query === 'is:all') return <Empty icon={MailIcon} title={text.none} />
  return (
    <Empty icon={SearchIcon} title={text.nothingFound}>
      <p>{text.nothingFoundHint}</p>
    </Empty>
  )
}

interface KeyOptions {
  list: List
  rows: Rows
  cursor: Cursor
  selection: Selection
  thread: string | undefined
  field: RefObject<HTMLInputElement | null>
}

const useListKeys = ({ list, rows, cursor, selection, thread, field }: KeyOptions, compose: string) => {
  const [, go] = useLocation()
  const { row } = cursor
  const selectAll = () => selection.selectAll(rows.rows)
  const back = () => (thread ? go(list.hrefOf()) : selection.clear())
  const bind = (keys: string, label: string, run: () => void): Binding => ({
    ...{ keys, label, group: 'list', run },
  })
  useKeys([
    { keys: 'c', label: text.keys.compose, group: 'any', run: () => go(compose) },
    bind('/', text.keys.search, () => field.current?.focus()),
    bind('j', text.keys.next, () => cursor.move(1)),
    bind('k', text.keys.previous, () => cursor.move(-1)),
    bind('o', text.keys.open, () => row && go(list.hrefOf(row.threadId))),
    bind('Escape', text.keys.back, back),
    bind('x', text.keys.select, () => row && selection.toggle(row.id, false)),
    bind('X', text.keys.selectRange, () => row && selection.toggle(row.id, true)),
    bind('* a', text.keys.selectAll, selectAll),
    // With an open thread, it selects the text.
    ...(thread ? [] : [bind('mod+a', text.keys.selectAll, selectAll)]),
  ])
}

interface PaneProps {
  list: List
  rows: Rows
  cursor: Cursor
  thread: string | undefined
  ref: RefObject<HTMLElement | null>
}

export const ListPane = ({ list, rows, cursor, thread, ref }: PaneProps) => {
  const field = useRef<HTMLInputElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const selection = useSelection(rows.rows)
  const triage = useRowTriage(cursor, selection)
  const compose = list.agent ? `/compose?agent=${list.agent.id}` : '/compose'
  useTriageKeys(triage)
  useListKeys({ list, rows, cursor, selection, thread, field }, compose)
  // An open thread is the page's subject, and alone on narrow screens.
  const Title = thread ? 'h2' : 'h1'
  const title = useRef<HTMLHeadingElement>(null)
  useArrival(title)
  return (
    <section className="inbox-list" aria-label={text.list} ref={ref}>
      <header className="inbox-head">
        <Title ref={thread ? undefined : title} tabIndex={-1}>
          {list.agent?.name ?? text.title}
        </Title>
        <LinkButton href={compose} icon={PencilIcon}>
          {text.compose}
        </LinkButton>
      </header>
      <SearchField ref={field} list={list} rows={rows.rows} onLeave={cursor.focus} />
      <Views list={list} />
      <Filters list={list} />
      <div className="inbox-scroll" ref={scroller}>
        {rows.loading && <Loading lines={8} />}
        {rows.failure && <Failed failure={rows.failure} onRetry={rows.retry} />}
        {!rows.loading && !rows.failure && rows.rows.length === 0 && <None list={list} />}
        <RowList
          key={`${list.query} ${list.search.agentId}`}
          {...{ list, cursor, selection, thread, scroller }}
          rows={rows.rows}
        />
        {rows.hasMore && !rows.isSifted && <More busy={rows.busy} onMore={rows.more} />}
        {rows.hasMore && rows.isSifted && (
          <p className="more">
            <Button kind="ghost" busy={rows.busy} onClick={rows.more}>
              {text.searchOlder}
            </Button>
          </p>
        )}
      </div>
      {selection.rows.length > 0 && <BulkBar rows={rows} selection={selection} triage={triage} />}
      {triage.dialogs}
    </section>
  )
}
