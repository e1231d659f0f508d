import type { PresentedMessage } from '../../message/index.ts'
import { clean, clip, type Fence } from '../outside-text/fence.ts'
import { isOwn, isTeams, lineOf, withoutHistory, writerOf } from './message.ts'

/** A conversation within a budget of tokens: who wrote what, newest first, without quotations. */

const CHARACTERS_PER_TOKEN = 4
/** Of one message, so that it does not take the room of all others; read_message shows the rest. */
const MAX_TEXT = 1_500
/** Characters before the first word that was found. */
const BEFORE = 150

/** Characters of a message that are searched. */
const MAX_SEARCHED = 20 * MAX_TEXT

/** A part of a message in one line: a line of its own could look like another message. */
const inOneLine = (text: string): string =>
  clean(text.toWellFormed())
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' / ')

/** Where the first of the words is, and how many of them there are. */
const find = (words: readonly string[], text: string) => {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  return { count: places.length, first: Math.min(...places) }
}

interface Part {
  message: PresentedMessage
  text: string
  /** How many words of the query it contains. */
  count: number
}

const partOf = (message: PresentedMessage, words: readonly string[]): Part => {
  const written = (message.replyText ?? message.text).slice(0, MAX_SEARCHED)
  // The agent's own words are not fenced, so nothing that they quote may be among them.
  const text = isOwn(message) ? withoutHistory(written) : written
  const { count, first } = find(words, text)
  const start = count > 0 && text.length > MAX_TEXT ? Math.max(0, first - BEFORE) : 0
  // Cut first: there are up to 100 messages. See docs/decisions.md#cleaning-text.
  const shown = inOneLine(text.slice(start, start + MAX_TEXT + 1))
  const part = clip(`${start > 0 ? '…' : ''}${shown}`, MAX_TEXT)
  const who = isOwn(message) ? [] : writerOf(message).map(inOneLine)
  return { message, text: [...who, part].join(' | '), count }
}

/**
 * Shows what fits into `tokens`: with a query only the messages that contain most of its words. `more`: there are older
 * messages than these.
 */
export const threadView = (
  { messages, more }: { messages: readonly PresentedMessage[]; more: boolean },
  { query = '', tokens }: { query?: string | undefined; tokens: number },
  fence: Fence,
) => {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const admitted = messages.filter(({ status }) => status !== 'refused')
  const parts = admitted.map((message) => partOf(message, words))
  const most = Math.max(0, ...parts.map(({ count }) => count))
  const found = words.length > 0 ? parts.filter(({ count }) => count > 0 && count === most) : parts
  let room = tokens * CHARACTERS_PER_TOKEN - 500
  const lines: string[] = []
  const shown: object[] = []
  for (const { message, text } of found) {
    const n = shown.length + 1
    const { unread: _, labels: __, preview: ___, ...line } = lineOf(message, fence)
    const fact = { n, ...line, ...(isOwn(message) ? { text } : {}) }
    const cost = JSON.stringify(fact).length + (isOwn(message) ? 0 : JSON.stringify(text).length + 5)
    if (shown.length > 0 && cost > room) break
    room -= cost
    shown.push(fact)
    fence.note(isTeams(message, (message.replyText ?? message.text).slice(0, MAX_SEARCHED)))
    if (!isOwn(message)) lines.push(`${n} ${text}`)
  }
  const left = found.length - shown.length
  return {
    fence: fence.id,
    messageCount: more ? `more than ${admitted.length}` : admitted.length,
    messages: shown,
    ...(lines.length > 0 ? { texts: fence.around(lines.join('\n')) } : {}),
    ...(left > 0 || more
      ? { notShown: left, next: 'For what is not shown, pass query or more tokens.' }
      : {}),
    ...(words.length > 0 && found.length === 0
      ? { next: 'No message contains these words; try others.' }
      : {}),
  }
}
