import { createHmac } from 'node:crypto'

/**
 * Codes with which members answer in a chat: one for each member and thing that is asked. They are derived, not stored; only who got
 * one knows it, so that a text with a forged number answers nothing.
 */

/** Letters and digits that are not mistaken for each other. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const LENGTH = 6

/** Returns the code: one of 887 million. */
export const replyCode = (
  key: Uint8Array,
  { memberId, agentId, id }: { memberId: string; agentId: string; id: string },
): string => {
  const digest = createHmac('sha256', key).update(`reply:${memberId}.${agentId}.${id}`).digest()
  let rest = digest.readUIntBE(0, 6)
  let code = ''
  for (let index = 0; index < LENGTH; index++) {
    code += ALPHABET[rest % ALPHABET.length]
    rest = Math.floor(rest / ALPHABET.length)
  }
  return code
}

const REPLY = new RegExp(`^\\s*\\[?([${ALPHABET}]{${LENGTH}})\\]?(?:[\\s:.,-]+([\\s\\S]*))?$`, 'i')

/** Splits a text into the code that it begins with and the answer; null if it begins with none. */
export const readReply = (text: string): { code: string; answer: string } | null => {
  const [, code, answer = ''] = REPLY.exec(text) ?? []
  return code === undefined ? null : { code: code.toUpperCase(), answer: answer.trim() }
}

/** The code as a message shows it, and how it is found there again. */
export const shownCode = (code: string): string => `[${code}]`
const SHOWN = new RegExp(`\\[([${ALPHABET}]{${LENGTH}})\\]`, 'g')

/** Returns the code at the end of a message of the service that somebody replies to, after what the agent wrote; null without one. */
export const codeIn = (text: string): string | null => [...text.matchAll(SHOWN)].at(-1)?.[1] ?? null
