import { normalizeLoosely } from '../../core/address/email-address.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { reasonOf } from './nonexistent.ts'
import { statusIn } from './status.ts'

const MAX_TEXT = 20_000
const MAX_WORDS = 500
/** Number of lines above a result that tell what led to it. */
const MAX_ABOVE = 6

/** Lines after which a bounce quotes the original message. */
const QUOTED =
  /^[-=_* >]{0,80}(?:(?:this is |here is |below is |enclosed is )?(?:a |the )?copy of (?:the|your) (?:original )?(?:message|e?-?mail)|original (?:message|mail)(?: (?:header|follows|headers))?|below this line|(?:the )?(?:full |original )?message headers?|returned message|unsent message|your (?:original )?message (?:follows|headers)|header of the original)/im

/** Fields that only the header of a message has; a bounce may name the others, too. */
const OF_HEADER =
  /^[> ]{0,3}(?:received|return-path|message-id|mime-version|content-type|dkim-signature|x-mailer)[ \t]*:/i
const FIELD = /^[> ]{0,3}[a-z][\w-]{1,60}[ \t]*:|^[ \t]+\S/i

/** The text for humans of a bounce, without the message that it returns. */
export function textOfBounce({ text }: ParsedMail): string {
  const lines = (text.slice(0, MAX_TEXT).split(QUOTED)[0] ?? '').split('\n')
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    end = start
    while (end < lines.length && FIELD.test(lines[end]!)) end++
    const isHeader = lines.slice(start, end).filter((line) => OF_HEADER.test(line)).length > 1
    if (isHeader && lines.slice(0, start).some((line) => line.trim() !== ''))
      return lines.slice(0, start).join('\n')
  }
  return lines.join('\n')
}

/** `550 5.1.1 <ann@example.com>... User unknown`: with it, sendmail ends what it tells of a recipient. */
const RESULT = /^[45]\d\d (?:[45]\.\d\.\d{1,3} )?<[^<>\s]{1,320}>\.\.\./
/** A line that begins a section, or the passage of an address. */
const SECTION = /^\s{0,9}-{3,40} .{1,80} -{3,40}\s{0,9}$|^(?:\.\.\. )?while talking to /i
const OTHER_PASSAGE = /^[\s*•"'<-]{0,9}[^\s<>()[\]"',;:@]{1,64}@[\w.-]{1,255}[>"']{0,2}(?:[ \t]?:|\s{0,9}$)/

const ADDRESS =
  /(?<![^\s<>()[\]"',;:@])[^\s<>()[\]"',;:@]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu

/** Returns the addresses in a text, normalized. */
export const addressesIn = (text: string): string[] =>
  (text.match(ADDRESS) ?? []).map((address) => normalizeLoosely(address)).filter((address) => address !== '')

/**
 * Returns what the text says about each address: the lines that name it, and those that follow until another
 * one is named, also one that is not asked for; in a transcript of sendmail, also those above its result. A recipient
 * whose passage gives no reason gets the lines above the first one.
 */
export function passagesOf(text: string, addresses: ReadonlySet<string>): Map<string, string> {
  const passages = new Map<string, string[]>()
  const general: string[] = []
  let current: string[] = []
  let above: string[] = []
  let isOther = false
  for (const line of text.split('\n')) {
    const named = addressesIn(line).filter((address) => addresses.has(address))
    const isResult = RESULT.test(line)
    if (isResult || SECTION.test(line)) current = []
    else if (named.length > 0) current = named
    else if (OTHER_PASSAGE.test(line)) [current, isOther] = [[], true]
    above = SECTION.test(line) ? [] : [...above.slice(-MAX_ABOVE), line]
    if (current.length === 0 && !isResult && !isOther) general.push(line)
    for (const address of isResult ? named : current) {
      if (!passages.has(address)) passages.set(address, [])
      passages.get(address)!.push(...(isResult ? above : [line]))
    }
    if (isResult) [above, isOther] = [[], true]
    else if (current.length > 0) isOther = false
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
