import { decodeWords } from 'postal-mime'
import { oneLine } from '../../sanitize-text.ts'
import { readableHeaders } from './charset.ts'
import { scanHeaders, valuesOf } from './headers.ts'

/**
 * How deep messages in messages are read, and how many of one message. What is beyond is in the attachments.
 */
export const MAX_FORWARDED_DEPTH = 5
export const MAX_FORWARDED = 50

const SHOWN = ['From', 'Date', 'Subject', 'To', 'Cc']

/** A message that came as an attachment, the way that mail programs show one that was forwarded. */
export function asForwarded(raw: Uint8Array, text: string): string {
  const headers = scanHeaders(readableHeaders(raw))
  const lines = SHOWN.flatMap((name) => {
    const [value] = valuesOf(headers, name.toLowerCase())
    return value === undefined ? [] : [`${name}: ${oneLine(decodeWords(value), 500)}`]
  })
  return ['---------- Forwarded message ----------', ...lines, '', text].join('\n').trimEnd()
}
