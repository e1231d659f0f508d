import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { AppError, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Attachment } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { type ReadDeps, readMessage } from './read.ts'

/** Lifetime of a link, in milliseconds. */
const LINK_MS = 10 * 60_000

/** Path prefix of links: `/files/{messageId}/{index}?expires=…&signature=…`. */
export const LINK_PATH = '/files'

export interface LinkDeps {
  clock: Clock
  /** Key that links are signed with, the same in every process. */
  linkKey: Uint8Array
  publicUrl(): string
}

export interface AttachmentLink {
  url: string
  expiresAt: Date
}

/** An attachment: its message and its index there. */
export interface AttachmentPlace {
  messageId: string
  index: number
}

const signatureOf = (key: Uint8Array, { messageId, index }: AttachmentPlace, expires: number): Buffer =>
  createHmac('sha256', key).update(`${messageId} ${index} ${expires}`).digest()

/**
 * Returns a URL that gives access to the attachment without a token for ten minutes. Checks no permission:
 * the caller must have read the message.
 */
export const signLink = ({ clock, linkKey, publicUrl }: LinkDeps, place: AttachmentPlace): AttachmentLink => {
  const expires = Math.floor((clock.now().getTime() + LINK_MS) / 1000)
  const signature = signatureOf(linkKey, place, expires).toString('base64url')
  return {
    url: `${publicUrl()}${LINK_PATH}/${place.messageId}/${place.index}?expires=${expires}&signature=${signature}`,
    expiresAt: new Date(expires * 1000),
  }
}

/** Returns a link to an attachment of an agent's message. */
export const linkAttachment = async (
  deps: ReadDeps & LinkDeps,
  viewer: Viewer,
  agentId: string,
  place: AttachmentPlace,
): Promise<AttachmentLink> => {
  const { attachments } = await readMessage(deps, viewer, agentId, place.messageId)
  if (!attachments[place.index]) throw notFound('attachment', 'number')
  return signLink(deps, place)
}

/**
 * Returns the attachment that a link refers to. A forged link, an expired link and a deleted message give the
 * same error.
 */
export const openLink = async (
  { prisma, clock, linkKey }: Db & Pick<LinkDeps, 'clock' | 'linkKey'>,
  place: AttachmentPlace,
  { expires, signature }: { expires: string; signature: string },
): Promise<Attachment> => {
  const until = /^\d{1,12}$/.test(expires) ? Number(expires) : 0
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(linkKey, place, until)
  const valid =
    given.length === expected.length &&
    timingSafeEqual(given, expected) &&
    clock.now().getTime() < until * 1000
  const attachment = valid && (await prisma.attachment.findFirst({ where: place }))
  if (!attachment) throw new AppError('not_found', 'This link is not valid, or has expired.')
  return attachment
}
