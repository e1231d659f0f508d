import type { Channel } from '../channels/channels.ts'

export interface Recipients {
  /** As the API takes them. */
  addresses: string[]
  /** What was written and is no address. */
  wrong: string[]
}

const EMAIL = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/

/** Between recipients, but not between quotation marks or in a comment: `"Example, Ann" <ann@example.com>`. */
const PARTS = /(?:"(?:[^"\\]|\\.)*"|\([^()]*\)|[^,;\n\t])+/g

/** The addresses in one part: in angle brackets, bare, after a name, or several with spaces between them. */
const addressesIn = (part: string): string[] | null => {
  const inBrackets = [...part.matchAll(/<([^<>]*)>/g)].map(([, inside = '']) => inside)
  const words = part.split(/\s+/)
  const bare = words.filter((one, index) => index === words.length - 1 || one.includes('@'))
  const isNamed = bare.length === 1 || bare.length === words.length
  const candidates = inBrackets.length > 0 ? inBrackets : isNamed ? bare : []
  const found = candidates.map((one) => one.trim().replace(/^mailto:/i, ''))
  return found.length > 0 && found.every((one) => EMAIL.test(one)) ? found : null
}

const unique = (addresses: readonly string[]): string[] => {
  const seen = new Set<string>()
  return addresses.filter((one) => !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase()))
}

/** Reads recipients as people write and paste them: `ann@example.com, Bob Builder <bob@example.org>`. */
export const readRecipients = (written: string, channel: Channel): Recipients => {
  const parts = (written.match(PARTS) ?? []).map((part) => part.trim()).filter(Boolean)
  if (channel !== 'email') return { addresses: unique(parts), wrong: [] }
  // A group of addresses has a name before a colon: `Team: ann@example.com, bob@example.org;`
  const read = parts.map((part) => ({ part, found: addressesIn(part.replace(/^[^"<@:]*:(?!\/)\s*/, '')) }))
  return {
    addresses: unique(read.flatMap(({ found }) => found ?? [])),
    wrong: read.filter(({ found }) => !found).map(({ part }) => part),
  }
}
