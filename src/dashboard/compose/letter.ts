import type { AttachedFile } from './files.ts'

export type Channel = 'email' | 'sms' | 'telegram'

/** What is being written. */
export interface Letter {
  agentId: string
  channel: Channel
  replyTo: string | null
  forward: string | null
  to: string
  cc: string
  subject: string
  text: string
  /** As the field for a local time has it; empty to send at once. */
  sendAt: string
  files: readonly AttachedFile[]
}

export const EMPTY: Omit<Letter, 'agentId'> = {
  channel: 'email',
  replyTo: null,
  forward: null,
  to: '',
  cc: '',
  subject: '',
  text: '',
  sendAt: '',
  files: [],
}

const listOf = (value: string): string[] =>
  value
    .split(/[,;\n]/)
    .map((one) => one.trim())
    .filter(Boolean)

/** The letter as the API takes it. An answer needs neither recipients nor a subject. */
export const inputOf = (letter: Letter) => {
  const { agentId, channel, replyTo, forward, subject, text, sendAt, files } = letter
  const isNew = replyTo === null && forward === null
  const to = listOf(letter.to)
  const cc = listOf(letter.cc)
  return {
    agentId,
    text,
    ...(replyTo === null ? {} : { replyTo }),
    ...(forward === null ? {} : { forward }),
    ...(isNew ? { channel } : {}),
    ...(to.length > 0 ? { to } : {}),
    ...(cc.length > 0 ? { cc } : {}),
    ...(isNew && channel === 'email' && subject !== '' ? { subject } : {}),
    ...(sendAt === '' ? {} : { sendAt: new Date(sendAt).toISOString() }),
    ...(files.length > 0
      ? { attachments: files.map(({ name, type, content }) => ({ name, type, content })) }
      : {}),
  }
}
