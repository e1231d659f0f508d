import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { CHANNELS } from '../api.ts'
import { type Command, type Input, repeated, valued } from './command.ts'
import { print } from './messages.ts'
import { meta, metadataOf } from './metadata.ts'
import { UsageError } from './terminal/failure.ts'
import { readStdin } from './terminal/terminal.ts'

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
  const text = await readStdin('TEXT')
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

const attach = repeated('FILE', 'attach a file')

const html = valued('FILE', 'send the HTML in FILE too; without TEXT, the text is made from it')

const to = repeated('ADDRESS', 'a recipient')

const bcc = repeated('ADDRESS', 'a recipient of a blind copy, whom nobody else learns of')

/** The recipients of blind copies, if there are any. */
const blindCopies = (input: Input) => {
  const given = input.texts('bcc')
  return given.length > 0 ? { bcc: given } : {}
}

/** To which conversation it belongs, and when and how often it is sent. */
const BESIDES = {
  conversation: valued('KEY', 'your own key of the conversation, such as the number of a ticket'),
  at: valued('TIME', 'send it at this time, as 2026-11-20T09:30:00Z'),
  key: valued(
    'KEY',
    'the idempotency key: the same command with the same key sends nothing a second time within 24 hours',
  ),
} as const

/** What the options say that replies, new messages and forwards have in common. */
const commonOf = async (input: Input, index: number) => {
  const [content, attachments] = [await contentOf(input, index), await filesOf(input)]
  const [sendAt, conversation] = [input.text('at'), input.text('conversation')]
  return {
    ...content,
    ...blindCopies(input),
    ...metadataOf(input),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(sendAt === undefined ? {} : { sendAt }),
    ...(conversation === undefined ? {} : { conversation }),
  }
}

const recipients = (input: Input): string[] => {
  const given = input.texts('to')
  if (given.length === 0) throw new UsageError('--to is missing.')
  return given
}

export const reply: Command = {
  usage: 'reply ID TEXT | -',
  summary: 'reply to a message in its thread, with TEXT, or standard input for -',
  options: {
    all: { type: 'boolean', help: 'reply to all: to its other recipients too' },
    ...{ bcc, meta, attach, html, ...BESIDES },
  },
  examples: [
    "ams reply 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b 'It is on its way.'",
    'ams reply 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b - < answer.txt',
  ],
  run: async (input) => {
    const id = input.required(0, 'ID')
    const replyAll = input.flag('all') ? { replyAll: true } : {}
    const common = await commonOf(input, 1)
    const { agent } = await input.open()
    print(input, await agent.send({ replyTo: id, ...replyAll, ...common }, { key: input.text('key') }))
    return undefined
  },
}

export const forward: Command = {
  usage: 'forward ID --to ADDRESS TEXT | -',
  summary: 'pass a message on with its files, below TEXT, or standard input for -',
  options: { to, bcc, meta, attach, html, ...BESIDES },
  examples: ["ams forward 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b --to bo@example.com 'Can you take this?'"],
  run: async (input) => {
    const [id, to] = [input.required(0, 'ID'), recipients(input)]
    const common = await commonOf(input, 1)
    const { agent } = await input.open()
    print(input, await agent.send({ forward: id, to, ...common }, { key: input.text('key') }))
    return undefined
  },
}

const ONE_OF = `${CHANNELS.slice(0, -1).join(', ')} or ${CHANNELS.at(-1)}`

const channelFor = (input: Input, to: string[]): (typeof CHANNELS)[number] => {
  const given = input.text('channel')
  const known = CHANNELS.find((one) => one === given)
  if (known) return known
  if (given !== undefined) throw new UsageError(`--channel must be ${ONE_OF}.`)
  if (to.every((one) => one.includes('@') && !one.startsWith('@'))) return 'email'
  if (to.every((one) => one.startsWith('+'))) return 'sms'
  throw new UsageError(
    '--channel is missing: it is known only if each --to is an email address, or each a phone number that begins with +.',
  )
}

export const send: Command = {
  usage: 'send --to ADDRESS [--subject SUBJECT] TEXT | -',
  summary: 'send a new message, with TEXT, or standard input for -',
  options: {
    to,
    cc: repeated('ADDRESS', 'a recipient of a copy'),
    ...{ bcc, meta },
    subject: valued('SUBJECT', 'the subject of an email'),
    channel: valued('CHANNEL', `${ONE_OF}; by default as the address looks`),
    ...{ attach, html, ...BESIDES },
  },
  examples: [
    "ams send --to ann@example.com --subject 'Report' --attach report.pdf 'Attached.'",
    "ams send --to ann@example.com --subject 'Report' --html report.html",
    "ams send --to +15551234567 'Running late.'",
    "ams send --to ann@example.com -- '-1 from me'",
    'make 2>&1 | ams send --to ann@example.com --subject Build -',
  ],
  run: async (input) => {
    const to = recipients(input)
    const channel = channelFor(input, to)
    const common = await commonOf(input, 0)
    const [cc, subject] = [input.texts('cc'), input.text('subject')]
    const { agent } = await input.open()
    const fields = { ...(cc.length > 0 ? { cc } : {}), ...(subject === undefined ? {} : { subject }) }
    print(input, await agent.send({ channel, to, ...common, ...fields }, { key: input.text('key') }))
    return undefined
  },
}
