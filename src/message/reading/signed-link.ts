import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'

/** Lifetime of a link, in milliseconds. */
const LINK_MS = 10 * 60_000

/** Lifetime of a link for a provider that fetches a file: Twilio keeps a message in its queue for at most 10 hours. */
export const FETCH_MS = 10 * 3_600_000

/** Path prefix of links: `/files/{messageId}/{file}?expires=…&signature=…`. */
export const LINK_PATH = '/files'

export interface LinkDeps {
  clock: Clock
  /** Key that links are signed with, the same in every process. */
  linkKey: Uint8Array
  publicUrl(): string
}

/** A URL that works without a token until it expires. */
export interface SignedLink {
  url: string
  expiresAt: Date
}

/** What a link gives access to: an attachment by its index, to save or to view, the mail as received, or its HTML. */
export interface LinkedFile {
  messageId: string
  file: number | `${number}-view` | 'raw' | 'html' | 'html-with-images'
}

/** The query of a link. */
export interface Signed {
  expires: string
  signature: string
}

const signatureOf = (key: Uint8Array, { messageId, file }: LinkedFile, expires: number): Buffer =>
  createHmac('sha256', key).update(`${messageId} ${file} ${expires}`).digest()

/**
 * Returns a URL that gives access to the file without a token, by default for ten minutes. Checks no
 * permission: the caller must have read the message.
 */
export const signLink = (
  { clock, linkKey, publicUrl }: LinkDeps,
  linked: LinkedFile,
  lifetimeMs = LINK_MS,
): SignedLink => {
  const expires = Math.floor((clock.now().getTime() + lifetimeMs) / 1000)
  const signature = signatureOf(linkKey, linked, expires).toString('base64url')
  return {
    url: `${publicUrl()}${LINK_PATH}/${linked.messageId}/${linked.file}?expires=${expires}&signature=${signature}`,
    expiresAt: new Date(expires * 1000),
  }
}

/** Returns whether a link was signed by this service for this file, and has not expired. */
export const isSigned = (
  { clock, linkKey }: Pick<LinkDeps, 'clock' | 'linkKey'>,
  linked: LinkedFile,
  { expires, signature }: Signed,
): boolean => {
  const until = /^\d{1,12}$/.test(expires) ? Number(expires) : 0
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(linkKey, linked, until)
  return (
    given.length === expected.length &&
    timingSafeEqual(given, expected) &&
    clock.now().getTime() < until * 1000
  )
}

/** The same for a forged link, an expired link and a deleted message. */
export const invalidLink = (): AppError =>
  new AppError('not_found', 'This link is not valid, or has expired.')
