import { normalizeLoosely } from '../../core/address/email-address.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { decodeText } from '../decode/charset.ts'

/** The fields of a group in a machine-readable report, by name in lower case. */
export type Fields = ReadonlyMap<string, string>

/** Maximum size of the machine-readable part in bytes. 1,000 recipients take half of it. */
const MAX_MACHINE_READABLE = 1024 * 1024
/** Maximum length of one value; a reply of a server has a few lines. */
const MAX_VALUE = 4_000

/** Reads the groups of fields of a part. */
export const groupsIn = ({ content }: InboundAttachment): Fields[] =>
  groupsOf(decodeText(content.subarray(0, MAX_MACHINE_READABLE), undefined))

/**
 * Reads groups of fields, separated by empty lines (RFC 3464 2.1). A line that is no field continues the one
 * above, even without the blank that it should begin with.
 */
export function groupsOf(text: string): Fields[] {
  const lines = text
    .slice(0, MAX_MACHINE_READABLE)
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+(?=\S)/g, ' ')
  return lines.split(/\n[ \t]*\n/).map((group) => {
    const fields = new Map<string, string>()
    let last = ''
    for (const line of group.split('\n')) {
      const field = /^([a-z][\w-]{1,60})[ \t]*:(.*)/i.exec(line)
      if (field) last = field[1]!.toLowerCase()
      const value = field ? field[2]!.trim() : `${fields.get(last) ?? ''} ${line.trim()}`.trim()
      if (last !== '') fields.set(last, value.slice(0, MAX_VALUE))
    }
    return fields
  })
}

/** `rfc822; <ann@example.com>` */
export const addressOf = (value: string | undefined): string =>
  normalizeLoosely(
    (value ?? '')
      .replace(/^[ \t]*[\w-]+[ \t]*;/, '')
      .trim()
      .replace(/^<|>$/g, ''),
  )
