import { createHash, type Hash } from 'node:crypto'

const LF = 0x0a
const CR = 0x0d

/**
 * The fields that make a mail the one that it is. Programs add and change others (Received, Status, X-…) where
 * they store a mail.
 */
const FIELDS =
  /^(?:from|to|cc|subject|date|message-id|in-reply-to|references|content-type|content-transfer-encoding)[ \t]*:/i
/** Enough for the longest of these names. */
const MAX_NAME = 40

const isEmptyLine = (raw: Buffer, start: number, end: number): boolean =>
  end === start || (end === start + 1 && raw[start] === CR)

/** The end of the line without its line end, however that is written. */
const textEnd = (raw: Buffer, start: number, feed: number): number =>
  feed > start && raw[feed - 1] === CR ? feed - 1 : feed

/** What comes after so much of a header counts as the body, which takes a hundredth of the time: a mail may have millions of fields. */
const MAX_HEADER = 256 * 1024

/** Adds the fields to the hash. Returns where the body begins. */
const hashFields = (hash: Hash, raw: Buffer): number => {
  let counts = false
  let at = 0
  while (at < Math.min(raw.length, MAX_HEADER)) {
    const feed = raw.indexOf(LF, at)
    const end = feed < 0 ? raw.length : feed
    if (isEmptyLine(raw, at, end)) return end + 1
    if (raw[at] !== 0x20 && raw[at] !== 0x09)
      counts = FIELDS.test(raw.toString('latin1', at, Math.min(end, at + MAX_NAME)))
    if (counts) hash.update(raw.subarray(at, textEnd(raw, at, end))).update('\n')
    at = end + 1
  }
  return at
}

/** The end of the body without the empty lines that mailbox formats add. */
const withoutEmptyLines = (raw: Buffer, start: number): number => {
  let end = raw.length
  while (end > start && (raw[end - 1] === LF || raw[end - 1] === CR)) end--
  return end
}

const PIECE_BYTES = 64 * 1024

/**
 * Identifies a mail however it is stored: with LF or CRLF as line ends, with or without an empty line at its
 * end, and whatever fields a mailbox has added. Two mails without a Message-ID are the same if everything else
 * is. Takes time linear in the size.
 */
export const fingerprintOf = (raw: Buffer): Uint8Array<ArrayBuffer> => {
  const hash = createHash('sha256').update('imported\n')
  const start = hashFields(hash, raw)
  const end = withoutEmptyLines(raw, start)
  hash.update('\n')
  for (let at = start; at < end; at += PIECE_BYTES)
    hash.update(raw.toString('latin1', at, Math.min(at + PIECE_BYTES, end)).replaceAll('\r', ''), 'latin1')
  return Uint8Array.from(hash.digest())
}
