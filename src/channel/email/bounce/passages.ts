import { oneLine } from '../../sanitize-text.ts'
import { normalizeLoosely } from '../address.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { reasonOf } from './nonexistent.ts'
import { statusIn } from './status.ts'

const MAX_TEXT = 20_000
const MAX_WORDS = 500

/** Lines after which a bounce quotes the original message. */
const QUOTED =
  /^[-=_* >]{0,80}(?:(?:this is |here is |below is |enclosed is )?(?:a |the )?copy of (?:the|your) (?:original )?(?:message|e?-?mail)|original (?:message|mail)(?: (?:header|follows|headers))?|below this line|(?:the )?(?:full |original )?message headers?|returned message|unsent message|your (?:original )?message (?:follows|headers)|header of the original)/im

/** The text for humans of a bounce, without the message that it returns. */
export const textOfBounce = ({ text }: ParsedMail): string => text.slice(0, MAX_TEXT).split(QUOTED)[0] ?? ''

const ADDRESS =
  /(?<![^\s<>()[\]"',;:@])[^\s<>()[\]"',;:@]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu

/** Returns the addresses in a text, normalized. */
export const addressesIn = (text: string): string[] =>
  (text.match(ADDRESS) ?? []).map((address) => normalizeLoosely(address)).filter((address) => address !== '')

/**
 * Returns what the text says about each address: the lines that name it, and those that follow until another
 * one is named. A recipient whose passage gives no reason gets the lines above the first one.
 */
export function passagesOf(text: string, addresses: ReadonlySet<string>): Map<string, string> {
  const passages = new Map<string, string[]>()
  const general: string[] = []
  let current: string[] = []
  for (const line of text.split('\n')) {
    const named = addressesIn(line).filter((address) => addresses.has(address))
    if (named.length > 0) current = named
    if (current.length === 0) general.push(line)
    for (const address of current) {
      if (!passages.has(address)) passages.set(address, [])
      passages.get(address)!.push(line)
    }
  }
  const introduction = general.join('\n')
  return new Map(
    [...addresses].map((address) => {
      const words = (passages.get(address) ?? []).join('\n')
      return [address, hasReason(words) ? words : `${introduction}\n${words}`]
    }),
  )
}

const hasReason = (words: string): boolean => statusIn(words) !== '' || reasonOf(words) !== null

/** The line that gives the reason, or '' if none does. */
export function reasonLine(text: string): string {
  const lines = text.split('\n')
  const line =
    lines.find((one) => /\b55\d[ -]/.test(one) || statusIn(one) !== '') ??
    lines.find((one) => reasonOf(one) !== null)
  return oneLine(line ?? '', MAX_WORDS)
}
