import { v7 as newId } from 'uuid'
import type { Check } from '../../core/channel/inbound.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { newMessage } from '../stored/row.ts'
import type { Mail } from './mail.ts'

/** A mail as the email channel has read it. */
export interface ReadableMail extends Pick<Message, 'replyText' | 'subject' | 'text' | 'to' | 'cc'> {
  from: { address: string; name: string | null }
  replyTo?: string | null
  messageId: string | null
  inReplyTo: string | null
  references: string[]
  sentAt: Date | null
  damage: string | null
  textChecks: Check[]
}

/** Name of the check that says who imported a message. */
export const IMPORT_CHECK = 'import'

/** An address of the agent. */
export interface OwnAddress {
  id: string
  value: string
}

/** The mailbox that mails are imported into. */
export interface Mailbox {
  agentId: string
  workspaceId: string
  /** Email addresses of the agent, the primary one first. */
  addresses: readonly OwnAddress[]
  /** Says who imports. */
  check: Check
}

/** The first mail was sent in 1971; an earlier date is none. */
const EARLIEST = Date.UTC(1971, 0, 1)

/**
 * Its Date, or else when it was stored. A date in the future would keep it at the top of
 * every list.
 */
const dateOf = ({ sentAt }: ReadableMail, { storedAt = null }: Mail, now: Date): Date => {
  const isPlausible = (date: Date | null): date is Date =>
    date !== null && date.getTime() >= EARLIEST && date <= now
  return [sentAt, storedAt].find(isPlausible) ?? now
}

/** The ids that the mail refers to, oldest first. */
const referencesOf = ({ references, inReplyTo }: Pick<ReadableMail, 'references' | 'inReplyTo'>) =>
  references.length > 0 || inReplyTo === null ? references : [inReplyTo]

/** The agent's address that the mail was sent from or to; the primary one if it names none. */
const placeOf = ({ addresses }: Mailbox, { from, to, cc }: ReadableMail) => {
  const sender = addresses.find(({ value }) => value === from.address)
  const named = addresses.find(({ value }) => to.includes(value) || cc.includes(value))
  return { isOwn: sender !== undefined, addressId: (sender ?? named ?? addresses[0]!).id }
}

const damageCheck = ({ damage }: ReadableMail): Check[] =>
  damage === null ? [] : [{ name: 'mime', verdict: 'damaged', detail: damage }]

/** Makes a message of a mail; its thread is determined when it is stored. */
export const toMessage = (
  mailbox: Mailbox,
  mail: Mail,
  read: ReadableMail,
  { fingerprint, now }: { fingerprint: Uint8Array<ArrayBuffer>; now: Date },
): Message => {
  const id = newId()
  const { isOwn, addressId } = placeOf(mailbox, read)
  return newMessage({
    id,
    workspaceId: mailbox.workspaceId,
    agentId: mailbox.agentId,
    addressId,
    channel: 'email',
    direction: isOwn ? 'outbound' : 'inbound',
    status: 'imported',
    counterpart: isOwn ? read.to.join(', ') : read.from.address,
    counterpartName: isOwn ? null : read.from.name,
    replyAddress: isOwn ? null : (read.replyTo ?? null),
    to: read.to,
    cc: read.cc,
    subject: read.subject,
    text: read.text,
    replyText: read.replyText === read.text ? null : read.replyText,
    internetMessageId: read.messageId,
    threadMessageId: read.messageId,
    threadReferences: referencesOf(read),
    threadId: id,
    checks: [...damageCheck(read), ...read.textChecks, mailbox.check].map((check) => ({ ...check })),
    fingerprint,
    createdAt: dateOf(read, mail, now),
  })
}
