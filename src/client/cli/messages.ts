import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { Writable } from 'node:stream'
import type { ListOptions, Message } from '../message.ts'
import type { Command, Input } from './command.ts'
import { UsageError } from './failure.ts'
import { oneLine, printable, printableJson, readStdin, type Terminal } from './terminal.ts'

const MAX_SHOWN = 70

const whoIs = ({ counterpart, counterpartName }: Message) =>
  counterpartName ? `${counterpartName} <${counterpart}>` : counterpart

/** A message on one line: when, which way, who, what, and its id. */
export const lineOf = (message: Message, { style }: Terminal): string => {
  const arrow = message.direction === 'inbound' ? '<-' : '->'
  const about = oneLine(message.subject || message.replyText || message.text).slice(0, MAX_SHOWN)
  const state = message.status === 'received' || message.status === 'sent' ? '' : ` [${message.status}]`
  const time = message.createdAt.slice(0, 16).replace('T', ' ')
  return `${style('dim', time)} ${arrow} ${style('bold', oneLine(whoIs(message)))} ${about}${state} ${style('dim', message.id)}`
}

const print = (input: Input, message: Message): void =>
  input.terminal.out(input.json ? printableJson(message) : lineOf(message, input.terminal))

const integer = (name: string, value: string | undefined, fallback: number): number => {
  if (value === undefined) return fallback
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
  throw new UsageError(`--${name} must be a whole number from 1 on.`)
}

export const messages: Command = {
  usage: 'messages [--q WORDS] [--limit N]',
  summary: 'list messages, newest first',
  options: {
    q: { type: 'string', value: 'WORDS', help: 'full-text search' },
    channel: { type: 'string', value: 'CHANNEL', help: 'email, sms or telegram' },
    direction: { type: 'string', value: 'DIRECTION', help: 'inbound or outbound' },
    status: { type: 'string', value: 'STATUS', help: 'for example received, refused, sent or failed' },
    since: { type: 'string', value: 'TIME', help: 'only from this time on, as 2026-11-20T09:30:00Z' },
    until: { type: 'string', value: 'TIME', help: 'only before this time' },
    limit: { type: 'string', value: 'N', help: 'at most so many; 20 by default' },
  },
  examples: ['ams messages', "ams messages --q 'invoice' --since 2026-11-01T00:00:00Z --limit 100 --json"],
  run: async (input) => {
    input.atMost(0)
    const max = integer('limit', input.text('limit'), 20)
    const filter: Record<string, string | number> = { limit: Math.min(max, 100) }
    for (const name of ['q', 'channel', 'direction', 'status', 'since', 'until']) {
      const value = input.text(name)
      if (value !== undefined) filter[name] = value
    }
    const { agent } = await input.open()
    // The service checks the values, and says what is wrong with them.
    for (const message of await agent.list(filter as ListOptions).all(max)) print(input, message)
    return undefined
  },
}

const show = (message: Message, terminal: Terminal): void => {
  const field = (name: string, value: string | null | undefined) => {
    if (value) terminal.out(`${terminal.style('bold', `${name}:`)} ${oneLine(value)}`)
  }
  field(message.direction === 'inbound' ? 'From' : 'To', whoIs(message))
  field('Subject', message.subject)
  field('Date', message.createdAt)
  field('Status', [message.status, message.refusal, message.error].filter(Boolean).join(', '))
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

/** The text and the HTML to send. With HTML, the service makes the text from it unless TEXT is given. */
const contentOf = async (
  input: Input,
  index: number,
): Promise<{ text: string } | { text?: string; html: string }> => {
  const file = input.text('html')
  input.atMost(index + 1)
  if (file === undefined) return { text: await textOf(input, index) }
  const html = await readFile(file, 'utf8')
  return input.positionals[index] === undefined ? { html } : { html, text: await textOf(input, index) }
}

const textOf = async (input: Input, index: number): Promise<string> => {
  const given = input.positionals[index]
  if (given === undefined || given === '')
    throw new UsageError('TEXT is missing: pass it quoted, or - to read it from standard input.')
  if (given !== '-') return given
  // There it is the event: a mistake would send the sender their own mail with what the service says of it.
  if (process.env.AMS_EVENT_ID !== undefined)
    throw new UsageError('TEXT cannot be read from standard input inside ams listen: pass it quoted.')
  const text = await readStdin()
  if (text.trim() === '') throw new UsageError('TEXT is missing: standard input is empty.')
  return text
}

const TYPES: Record<string, string> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.zip': 'application/zip',
}

const filesOf = (input: Input) =>
  Promise.all(
    input.texts('attach').map(async (path) => ({
      name: basename(path),
      type: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
      content: (await readFile(path)).toString('base64'),
    })),
  )

const attach = {
  type: 'string',
  multiple: true,
  value: 'FILE',
  help: 'attach a file; can be repeated',
} as const

const html = {
  type: 'string',
  value: 'FILE',
  help: 'send the HTML in FILE too; without TEXT, the text is made from it',
} as const

export const reply: Command = {
  usage: 'reply ID TEXT | -',
  summary: 'reply to a message in its thread, with TEXT, or standard input for -',
  options: { attach, html },
  examples: [
    "ams reply 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b 'It is on its way.'",
    'ams reply 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b - < answer.txt',
  ],
  run: async (input) => {
    const id = input.required(0, 'ID')
    const content = await contentOf(input, 1)
    const attachments = await filesOf(input)
    const { agent } = await input.open()
    print(
      input,
      await agent.send({ replyTo: id, ...content, ...(attachments.length > 0 ? { attachments } : {}) }),
    )
    return undefined
  },
}

const channelFor = (input: Input, to: string[]): 'email' | 'sms' | 'telegram' => {
  const given = input.text('channel')
  if (given === 'email' || given === 'sms' || given === 'telegram') return given
  if (given !== undefined) throw new UsageError('--channel must be email, sms or telegram.')
  if (to.every((one) => one.includes('@') && !one.startsWith('@'))) return 'email'
  if (to.every((one) => one.startsWith('+'))) return 'sms'
  throw new UsageError('--channel is missing.')
}

export const send: Command = {
  usage: 'send --to ADDRESS [--subject SUBJECT] TEXT | -',
  summary: 'send a new message, with TEXT, or standard input for -',
  options: {
    to: { type: 'string', multiple: true, value: 'ADDRESS', help: 'a recipient; can be repeated' },
    cc: { type: 'string', multiple: true, value: 'ADDRESS', help: 'a recipient of a copy; can be repeated' },
    subject: { type: 'string', value: 'SUBJECT', help: 'the subject of an email' },
    channel: {
      type: 'string',
      value: 'CHANNEL',
      help: 'email, sms or telegram; by default as the address looks',
    },
    ...{ attach, html },
  },
  examples: [
    "ams send --to ann@example.com --subject 'Report' --attach report.pdf 'Attached.'",
    "ams send --to ann@example.com --subject 'Report' --html report.html",
    "ams send --to +15551234567 'Running late.'",
    "ams send --to ann@example.com -- '-1 from me'",
    'make 2>&1 | ams send --to ann@example.com --subject Build -',
  ],
  run: async (input) => {
    const to = input.texts('to')
    if (to.length === 0) throw new UsageError('--to is missing.')
    const channel = channelFor(input, to)
    const content = await contentOf(input, 0)
    const [cc, subject, attachments] = [input.texts('cc'), input.text('subject'), await filesOf(input)]
    const { agent } = await input.open()
    const message = await agent.send({
      channel,
      to,
      ...content,
      ...(cc.length > 0 ? { cc } : {}),
      ...(subject === undefined ? {} : { subject }),
      ...(attachments.length > 0 ? { attachments } : {}),
    })
    print(input, message)
    return undefined
  },
}
