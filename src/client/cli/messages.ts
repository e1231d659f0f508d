import { Writable } from 'node:stream'
import type { ListOptions, Message } from '../message.ts'
import { type Command, type Input, valued } from './command.ts'
import { metadataOf, withMeta } from './metadata.ts'
import { oneLine, printable, printableJson, type Terminal } from './terminal/terminal.ts'

const MAX_SHOWN = 70

const whoIs = ({ counterpart, counterpartName }: Message) =>
  counterpartName ? `${counterpartName} <${counterpart}>` : counterpart

/** A time to the minute, in UTC as the API gives it, and says so. */
const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`

/** What has become of a message; of one that waits, for what. */
const stateOf = ({ status, hold }: Message): string => {
  if (status !== 'sending' || !hold?.until) return status
  return hold.reason === 'approval' ? 'waits for approval' : `scheduled for ${minute(hold.until)}`
}

/** A message on one line: when, which way, who, what, and its id. */
export const lineOf = (message: Message, { style }: Terminal): string => {
  const arrow = message.direction === 'inbound' ? '<-' : '->'
  const about = oneLine(message.subject || message.replyText || message.text).slice(0, MAX_SHOWN)
  const state = message.status === 'received' || message.status === 'sent' ? '' : ` [${stateOf(message)}]`
  return `${style('dim', minute(message.createdAt))} ${arrow} ${style('bold', oneLine(whoIs(message)))} ${about}${state} ${style('dim', message.id)}`
}

export const print = (input: Input, message: Message): void =>
  input.terminal.out(input.json ? printableJson(message) : lineOf(message, input.terminal))

/** Where a search found the message first, other than in the subject, which its line shows. */
const printPlace = ({ highlights = [] }: Message, { out, style }: Terminal): void => {
  const place = highlights.find(({ field }) => field !== 'subject')
  if (!place) return
  const parts = place.parts.map(({ text, matched }) =>
    matched ? style('bold', printable(text)) : printable(text),
  )
  out(`    ${place.field}${parts.length > 0 ? ': ' : ''}${parts.join('')}`)
}

export const messages: Command = {
  usage: 'messages [--q WORDS] [--limit N]',
  summary: 'list messages, newest first',
  options: {
    q: valued('WORDS', 'full-text search'),
    unread: { type: 'boolean', help: 'only received messages that are not marked as read' },
    from: valued('SENDER', 'only from this address, or *@example.com'),
    label: valued('LABEL', 'only with this label'),
    meta: withMeta,
    thread: valued('ID', 'only the thread of the message with this id'),
    channel: valued('CHANNEL', 'email, sms or telegram'),
    direction: valued('DIRECTION', 'inbound or outbound'),
    status: valued('STATUS', 'for example received, refused, sent or failed'),
    since: valued('TIME', 'only from this time on, as 2026-11-20T09:30:00Z'),
    until: valued('TIME', 'only before this time'),
    limit: valued('N', 'at most so many; 20 by default'),
  },
  examples: [
    'ams messages',
    "ams messages --unread --from '*@example.com'",
    "ams messages --q 'invoice' --since 2026-11-01T00:00:00Z --limit 100 --json",
  ],
  run: async (input) => {
    input.atMost(0)
    const max = input.integer('limit', 20)
    const filter: Record<string, unknown> = { limit: Math.min(max, 100), ...metadataOf(input) }
    if (input.flag('unread')) filter.unread = true
    for (const name of ['q', 'from', 'label', 'thread', 'channel', 'direction', 'status', 'since', 'until']) {
      const value = input.text(name)
      if (value !== undefined) filter[name] = value
    }
    const { agent } = await input.open()
    // The service checks the values, and says what is wrong with them.
    for (const message of await agent.list(filter as ListOptions).all(max)) {
      print(input, message)
      if (!input.json) printPlace(message, input.terminal)
    }
    return undefined
  },
}

const show = (message: Message, terminal: Terminal): void => {
  const field = (name: string, value: string | null | undefined) => {
    if (value) terminal.out(`${terminal.style('bold', `${name}:`)} ${oneLine(value)}`)
  }
  field(message.direction === 'inbound' ? 'From' : 'To', whoIs(message))
  field('Subject', message.subject)
  field('Bcc', message.bcc.join(', '))
  field('Date', message.createdAt)
  field('Status', [stateOf(message), message.refusal, message.error].filter(Boolean).join(', '))
  field(
    'Metadata',
    Object.entries(message.metadata)
      .map(([key, value]) => `${key}=${value}`)
      .join('; '),
  )
  field(
    'Files',
    message.attachments.map(({ name, type, size }) => `${name} (${type}, ${size} bytes)`).join('; '),
  )
  terminal.out('')
  terminal.out(printable(message.text))
}

export const read: Command = {
  usage: 'read ID [--raw]',
  summary: 'show a message',
  options: { raw: { type: 'boolean', help: 'write the email as it was received, byte for byte' } },
  examples: [
    'ams read 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    'ams read 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b --raw > mail.eml',
  ],
  run: async (input) => {
    const id = input.required(0, 'ID')
    input.atMost(1)
    const { agent } = await input.open()
    const message = await agent.message(id)
    if (input.flag('raw')) await (await message.raw()).pipeTo(Writable.toWeb(process.stdout))
    else if (input.json) input.terminal.out(printableJson(message))
    else show(message, input.terminal)
    return undefined
  },
}
