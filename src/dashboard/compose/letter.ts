import type { Channel } from '../channels/channels.ts'
import type { AttachedFile } from './files.ts'
import { readRecipients } from './recipients.ts'
import { text } from './strings.ts'

/** What is being written, without the contents of its files. */
export interface Words {
  agentId: string
  channel: Channel
  replyTo: string | null
  replyAll: boolean
  forward: string | null
  to: string
  cc: string
  bcc: string
  subject: string
  text: string
  /** As the field for a local time has it; empty to send at once. */
  sendAt: string
  /** When the newest message was made that its writer knew of, for answers. */
  since: string | null
}

export interface Letter extends Words {
  files: readonly AttachedFile[]
}

export const EMPTY: Omit<Words, 'agentId'> = {
  channel: 'email',
  replyTo: null,
  replyAll: false,
  forward: null,
  to: '',
  cc: '',
  bcc: '',
  subject: '',
  text: '',
  sendAt: '',
  since: null,
}

/** As many recipients as the service takes. */
const MOST_TO = 10
const MOST_COPIES = 50

const isNew = ({ replyTo, forward }: Words): boolean => replyTo === null && forward === null

/** Whether the words are those that a letter begins with: none, or the signature. */
export const isBlank = (words: Words, blank: Words): boolean =>
  [words.to, words.cc, words.bcc, words.subject, words.sendAt].every((one) => one.trim() === '') &&
  ['', blank.text.trim()].includes(words.text.trim())

/** What the letter says, to compare it with another version. */
export const saidBy = ({ to, cc, bcc, subject, text, sendAt }: Words): string =>
  JSON.stringify([to, cc, bcc, subject, text, sendAt])

export type Problems = Partial<Record<'bcc' | 'cc' | 'subject' | 'text' | 'to', string>>

const problemOf = (written: string, channel: Channel, most: number): string | null => {
  const { addresses, wrong } = readRecipients(written, channel)
  if (wrong.length > 0) return text.wrongAddress(wrong)
  return addresses.length > most ? text.tooMany(addresses.length, most) : null
}

/** What is missing or wrong before the letter can be sent, by field. */
export const problemsOf = (words: Words): Problems => {
  const to =
    words.replyTo !== null
      ? null
      : (problemOf(words.to, words.channel, MOST_TO) ?? (words.to.trim() === '' ? text.missingTo : null))
  const cc = problemOf(words.cc, words.channel, MOST_COPIES)
  const bcc = problemOf(words.bcc, words.channel, MOST_COPIES)
  return {
    ...(to === null ? {} : { to }),
    ...(cc === null ? {} : { cc }),
    ...(bcc === null ? {} : { bcc }),
    ...(words.text.trim() === '' ? { text: text.missingText } : {}),
  }
}

const attachmentsOf = (files: readonly AttachedFile[]) =>
  files.map(({ name, type, content }) => ({ name, type, content }))

/** The letter as the API takes it to send. An answer needs neither recipients nor a subject. */
export const inputOf = (letter: Letter) => {
  const { agentId, channel, replyTo, replyAll, forward, subject, text: said, sendAt, files } = letter
  const to = readRecipients(letter.to, channel).addresses
  const cc = readRecipients(letter.cc, channel).addresses
  const bcc = readRecipients(letter.bcc, channel).addresses
  return {
    agentId,
    text: said,
    ...(replyTo === null ? {} : { replyTo, replyAll }),
    ...(forward === null ? {} : { forward }),
    ...(isNew(letter) ? { channel } : {}),
    ...(to.length > 0 ? { to } : {}),
    ...(cc.length > 0 ? { cc } : {}),
    ...(bcc.length > 0 ? { bcc } : {}),
    ...(isNew(letter) && channel === 'email' && subject !== '' ? { subject } : {}),
    ...(sendAt === '' ? {} : { sendAt: new Date(sendAt).toISOString() }),
    ...(files.length > 0 ? { attachments: attachmentsOf(files) } : {}),
  }
}

/** Recipients as a draft keeps them: addresses, and what is not one yet as it was written. */
const keptRecipients = (written: string, channel: Channel, most: number): string[] | null => {
  const { addresses, wrong } = readRecipients(written, channel)
  const all = [...addresses, ...wrong.map((one) => one.slice(0, 320))].slice(0, most)
  return all.length > 0 ? all : null
}

/** The letter as a draft. Files are saved only when they changed: they replace all files of the draft. */
export const draftOf = (words: Words, files: readonly AttachedFile[] | null) => ({
  text: words.text || null,
  replyTo: words.replyTo,
  replyAll: words.replyAll,
  forward: words.forward,
  channel: isNew(words) ? words.channel : null,
  to: keptRecipients(words.to, words.channel, MOST_TO),
  cc: keptRecipients(words.cc, words.channel, MOST_COPIES),
  bcc: keptRecipients(words.bcc, words.channel, MOST_COPIES),
  subject: words.subject || null,
  sendAt: words.sendAt === '' ? null : new Date(words.sendAt).toISOString(),
  ...(files === null ? {} : { attachments: attachmentsOf(files) }),
})
