import { randomInt } from 'node:crypto'
import { slugOf } from '../../core/text/slug.ts'

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
/** Telegram's usernames have 5 to 32 characters; a bot's ends in `bot`. */
const MAX_NAME_LENGTH = 18

/**
 * Returns a unique and unguessable username for an agent's bot: the bot that is created with it belongs to
 * the link that suggested it.
 */
export const suggestUsername = (agentName: string): string => {
  const slug = slugOf(agentName)
    .replaceAll('-', '_')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/(?<!_)_+$/, '')
  const start = /^[a-z]/.test(slug)
    ? slug
    : `agent_${slug}`.slice(0, MAX_NAME_LENGTH).replace(/(?<!_)_+$/, '')
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${start}_${random}_bot`
}
