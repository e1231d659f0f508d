import { describe, expect, test } from 'vitest'
import { periodOf } from '../../src/dashboard/inbox/dates.ts'
import {
  isOfThreads,
  type Known,
  parseSearch,
  type Search,
  toggleFilter,
  tokensOf,
  withState,
} from '../../src/dashboard/inbox/query.ts'

/** The language of the inbox's search field. Without a browser. */

const now = new Date(2026, 10, 25, 12)
const agents = [
  { id: 'a1', name: 'Support' },
  { id: 'a2', name: 'Orders North' },
  { id: 'a3', name: 'Orders South' },
]
/** Says the kind of problem and what it is about. */
const say = new Proxy({} as Known['say'], {
  get:
    (_, kind) =>
    (...about: unknown[]) =>
      [kind, ...about].join(' '),
})
const known: Known = { agents, me: 'm1', now, locale: 'de', say }
const found = (query: string): Partial<Search> => {
  const { search, problems } = parseSearch(query, known)
  expect(problems).toEqual([])
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== null && value !== '' && value !== false),
  )
}
const problemsOf = (query: string) => parseSearch(query, known).problems.map(({ text }) => text)

test('words, phrases and prefixes are passed on as they are', () => {
  expect(found('refun* "where is it" -paid or http://x')).toEqual({
    words: 'refun* "where is it" -paid or http://x',
    state: 'all',
  })
  expect(found('"quoted from:ann"')).toEqual({ words: '"quoted from:ann"', state: 'all' })
})

test('filters can be quoted, are recognized in any case, and work without a word', () => {
  expect(found('FROM:"Ann Example" to:*@example.com subject:"late order"')).toEqual({
    ...{ from: 'Ann Example', to: '*@example.com', subject: 'late order', state: 'all' },
  })
  expect(found('agent:"orders north" is:unread')).toEqual({ agentId: 'a2', unread: true, state: 'open' })
  expect(found('agent:sup in:sms assigned:me')).toEqual({
    ...{ agentId: 'a1', channel: 'sms', assignedTo: 'm1', state: 'open' },
  })
  expect(found('is:refused has:files label:vip')).toEqual({
    ...{ state: 'refused', hasAttachment: true, label: 'vip' },
  })
  expect(parseSearch('is:read', known).search.unread).toBe(false)
})

test('what is open is listed until something is searched for', () => {
  const stateOf = (query: string) => parseSearch(query, known).search.state
  expect(['', 'is:unread', 'in:email', 'agent:support'].map(stateOf)).toEqual(Array(4).fill('open'))
  expect(['refund', 'from:ann', 'label:vip', 'after:2026'].map(stateOf)).toEqual(Array(4).fill('all'))
  expect(stateOf('refund is:done')).toBe('done')
  const listsThreads = (query: string) => isOfThreads(parseSearch(query, known).search)
  expect(['', 'is:done', 'label:vip', 'assigned:me'].map(listsThreads)).toEqual(Array(4).fill(true))
  expect(['x', 'is:sent', 'from:ann', 'has:files', 'on:2026'].map(listsThreads)).toEqual(Array(5).fill(false))
})

describe('dates', () => {
  const of = (text: string) => {
    const period = periodOf(text, now, 'de')
    return period && [period.from.toDateString(), period.to.toDateString()]
  }
  test('are days, months and years in the time zone of the browser', () => {
    expect(of('2026-03-31')).toEqual(['Tue Mar 31 2026', 'Wed Apr 01 2026'])
    expect(of('2026-12')).toEqual(['Tue Dec 01 2026', 'Fri Jan 01 2027'])
    expect(of('2025')).toEqual(['Wed Jan 01 2025', 'Thu Jan 01 2026'])
    for (const name of ['March', 'März']) expect(of(name)).toEqual(['Sun Mar 01 2026', 'Wed Apr 01 2026'])
    expect(of('december')).toEqual(['Mon Dec 01 2025', 'Thu Jan 01 2026'])
    expect(of('mar 2024')).toEqual(['Fri Mar 01 2024', 'Mon Apr 01 2024'])
    expect(of('yesterday')).toEqual(['Tue Nov 24 2026', 'Wed Nov 25 2026'])
    for (const none of ['2026-02-31', '2026-13', 'soon', '03/31', '']) expect(of(none)).toBe(null)
  })

  test('exclude the day before which, and include the day after which', () => {
    const { since, until } = parseSearch('after:march before:april', known).search
    expect([since, until]).toEqual([new Date(2026, 2, 1), new Date(new Date(2026, 3, 1).getTime() - 1)])
    expect(parseSearch('on:march', known).search).toMatchObject({ since, until })
  })
})

test('each part that means nothing is named', () => {
  expect(problemsOf('is:bogus refund')).toEqual([expect.stringMatching(/^value is bogus unread,read,open/)])
  expect(problemsOf('before:soon')).toEqual(['date soon'])
  expect(problemsOf('"where is')).toEqual(['quote "where is'])
  expect(problemsOf('subject:"late')).toEqual(['quote subject:"late'])
  expect(problemsOf('from:')).toEqual(['empty from'])
  expect(problemsOf('agent:orders')).toEqual(['agent orders'])
  expect(problemsOf('-from:ann')).toEqual(['excluded -from:ann'])
  expect(problemsOf('is:failed is:refused')).toEqual(['both is:failed is:refused'])
  expect(parseSearch('is:failed is:refused', known).search.state).toBe('failed')
})

test('a filter takes the place of those that it excludes', () => {
  expect(toggleFilter('refund is:failed is:unread', 'is:scheduled')).toBe('refund is:unread is:scheduled')
  expect(toggleFilter('is:unread', 'is:unread')).toBe('')
  expect(toggleFilter('is:read "a  b"', 'is:unread')).toBe('"a  b" is:unread')
  expect(withState('is:failed', 'open', known)).toBe('')
  expect(withState('refund is:done', 'all', known)).toBe('refund')
  expect(withState('refund', 'open', known)).toBe('refund is:open')
  expect(withState('', 'refused', known)).toBe('is:refused')
})

test('a token knows where it stands', () => {
  expect(tokensOf(' a from:"b c" is:').map(({ start, end, name }) => [start, end, name])).toEqual([
    [1, 2, null],
    [3, 13, 'from'],
    [14, 17, 'is'],
  ])
})
