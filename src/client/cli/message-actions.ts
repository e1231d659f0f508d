import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Attachment } from '../attachment.ts'
import type { Message } from '../message.ts'
import { type Command, given, type Input, repeated, valued } from './command.ts'
import { print } from './messages.ts'
import { meta, metadataOf } from './metadata.ts'
import { NONE_CAME, UsageError } from './terminal/failure.ts'
import { oneLine, printable, printableJson } from './terminal/terminal.ts'

const metadataChangesOf = (input: Input): Record<string, string | null> => ({
  ...metadataOf(input).metadata,
  ...Object.fromEntries(input.texts('unmeta').map((key) => [key, null])),
})

export const mark: Command = {
  usage: 'mark ID… [--read | --unread] [--label LABEL] [--unlabel LABEL] [--meta KEY=VALUE] [--unmeta KEY]',
  summary: 'mark messages as read or unread, add or remove labels, and keep values with them',
  options: {
    read: { type: 'boolean', help: 'mark as read' },
    unread: { type: 'boolean', help: 'mark as unread' },
    label: repeated('LABEL', 'add a label'),
    unlabel: repeated('LABEL', 'remove a label'),
    meta,
    unmeta: repeated('KEY', 'remove a value'),
  },
  examples: ['ams mark 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b --read --label done'],
  run: async (input) => {
    input.required(0, 'ID')
    const [addLabels, removeLabels] = [input.texts('label'), input.texts('unlabel')]
    const [read, unread] = [input.flag('read'), input.flag('unread')]
    if (read && unread) throw new UsageError('Use either --read or --unread.')
    const metadata = metadataChangesOf(input)
    if (!read && !unread && addLabels.length + removeLabels.length + Object.keys(metadata).length === 0)
      throw new UsageError('One of --read, --unread, --label, --unlabel, --meta and --unmeta is needed.')
    const { agent } = await input.open()
    const changes = given({
      ...{ read: read || unread ? read : undefined, addLabels, removeLabels },
      metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    })
    const marked = await agent.mark(input.positionals, changes)
    for (const one of marked)
      input.terminal.out(
        input.json
          ? printableJson(one)
          : oneLine(`${one.id} ${one.readAt === null ? 'unread' : 'read'} ${one.labels.join(', ')}`),
      )
    return undefined
  },
}

export const wait: Command = {
  usage: 'wait [--from SENDER] [--after POSITION] [--seconds N]',
  summary: 'wait for one new message, beside an ams listen too; exits with 1 if none came',
  options: {
    from: valued('SENDER', 'only from this address, or *@example.com'),
    after: valued('POSITION', 'also what came since then; by default only from now on'),
    seconds: valued('N', 'how long; 60 by default'),
    position: { type: 'boolean', help: 'print the position of now, and end' },
  },
  examples: [
    "ams wait --from '*@example.com' --seconds 120",
    "at=$(ams wait --position); ./sign-up; ams wait --after $at --from '*@example.com' --json",
  ],
  run: async (input) => {
    input.atMost(0)
    const [from, at, seconds] = [input.text('from'), input.text('after'), input.integer('seconds', 60)]
    if (at !== undefined && !/^\d{1,15}$/.test(at))
      throw new UsageError('--after must be a position: what ams wait --position printed.')
    const { agent } = await input.open()
    if (input.flag('position')) {
      input.terminal.out(String(await agent.position()))
      return undefined
    }
    const message = await agent.next({ from, after: at === undefined ? undefined : Number(at), seconds })
    if (message) print(input, message)
    else input.terminal.note(`ams: no such message came within ${seconds} s`)
    return message ? undefined : NONE_CAME
  },
}

/** Names come from outside: without folders, control characters or a leading dot, and each once. */
const fileNames = ({ attachments }: Message): string[] => {
  const taken = new Set<string>()
  return attachments.map(({ name }, index) => {
    const clean = basename(oneLine(name).replaceAll('\\', '/'))
      .replace(/[<>:"|?*]/g, '_')
      .replace(/^\.+/, '')
    const free = clean === '' || taken.has(clean.toLowerCase()) ? `${index + 1}-${clean || 'file'}` : clean
    taken.add(free.toLowerCase())
    return free
  })
}

const save = async (file: Attachment, path: string): Promise<void> =>
  pipeline(Readable.fromWeb((await file.open()) as never), createWriteStream(path, { flags: 'wx' }))

export const files: Command = {
  usage: 'files ID [--save FOLDER]',
  summary: 'list the files of a message, or save them',
  options: {
    save: valued('FOLDER', 'write them to this folder; nothing is overwritten'),
  },
  examples: [
    'ams files 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    'ams files 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b --save .',
  ],
  run: async (input) => {
    const id = input.required(0, 'ID')
    input.atMost(1)
    const folder = input.text('save')
    const { agent } = await input.open()
    const message = await agent.message(id)
    const names = fileNames(message)
    if (folder !== undefined) await mkdir(folder, { recursive: true })
    for (const [index, file] of message.attachments.entries()) {
      const { name, type, size } = file
      const path = folder === undefined ? undefined : join(folder, names[index] ?? '')
      if (path !== undefined) await save(file, path)
      input.terminal.out(
        input.json
          ? printableJson({ index, name, type, size, path })
          : oneLine(`${path ?? name}  ${type}, ${size} bytes`),
      )
    }
    return undefined
  },
}

export const attachment: Command = {
  usage: 'attachment ID INDEX [--text]',
  summary: 'print one file of a message, or its text',
  options: {
    text: { type: 'boolean', help: 'its text: of PDF, Office and other documents too' },
  },
  examples: [
    'ams attachment 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b 0 --text',
    'ams attachment 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b 1 > photo.jpg',
  ],
  run: async (input) => {
    const [id, index] = [input.required(0, 'ID'), input.required(1, 'INDEX')]
    input.atMost(2)
    if (!/^\d{1,4}$/.test(index))
      throw new UsageError('INDEX must be a number from 0: ams files ID --json lists them.')
    const { agent } = await input.open()
    const file = (await agent.message(id)).attachment(Number(index))
    if (!input.flag('text'))
      await pipeline(Readable.fromWeb((await file.open()) as never), process.stdout, { end: false })
    else if (input.json) input.terminal.out(printableJson({ text: await file.text() }))
    else input.terminal.out(printable(await file.text()))
    return undefined
  },
}
