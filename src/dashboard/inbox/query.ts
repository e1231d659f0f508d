/** The filters of the search field, as words: `from:ann@example.com is:refused where is it`. */

export type State = 'failed' | 'refused' | 'scheduled' | 'sent' | 'waiting'

export interface Search {
  /** What is searched for in subject, text and counterpart. */
  words: string
  from: string | null
  label: string | null
  channel: 'email' | 'sms' | 'telegram' | null
  unread: boolean
  state: State | null
  hasAttachment: boolean
}

const CHANNELS = ['email', 'sms', 'telegram'] as const
const STATES: readonly State[] = ['failed', 'refused', 'scheduled', 'sent', 'waiting']

/** A filter is a word, a colon and a value, which may be quoted. Of equal filters the last one counts. */
const FILTER = /(?<![^\s])(from|label|is|has|in):(?:"([^"]*)"|(\S+))/gi

export const parseSearch = (query: string): Search => {
  const search: Search = {
    words: query.replace(FILTER, ' ').replace(/\s+/g, ' ').trim(),
    from: null,
    label: null,
    channel: null,
    unread: false,
    state: null,
    hasAttachment: false,
  }
  for (const [, name = '', quoted, plain = ''] of query.matchAll(FILTER)) {
    const value = quoted ?? plain
    const lower = value.toLowerCase()
    const key = name.toLowerCase()
    if (key === 'from') search.from = value
    else if (key === 'label') search.label = value
    else if (key === 'in') search.channel = CHANNELS.find((one) => one === lower) ?? null
    else if (key === 'has') search.hasAttachment = lower.startsWith('attach')
    else if (lower === 'unread') search.unread = true
    else search.state = STATES.find((one) => one === lower) ?? null
  }
  return search
}

/** Whether threads are listed, or the messages that were found. */
export const isOfThreads = ({ words, from, state, hasAttachment }: Search): boolean =>
  words === '' && from === null && state === null && !hasAttachment

/** The query with a filter added, or taken out if it was in it. */
export const toggleFilter = (query: string, filter: string): string => {
  const words = query.split(/\s+/).filter(Boolean)
  const without = words.filter((word) => word.toLowerCase() !== filter)
  return [...without, ...(without.length === words.length ? [filter] : [])].join(' ')
}
