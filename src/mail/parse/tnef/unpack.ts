import { decompressRTF } from '@kenjiuno/decompressrtf'
import iconv from 'iconv-lite'
import { deEncapsulateSync } from 'rtf-stream-parser'
import type { InboundAttachment } from '../../../core/channel/inbound.ts'
import { namedAttachment } from '../../decode/attachment.ts'
import type { Budget } from '../../decode/time-budget.ts'
import { htmlToReadable } from '../html/readable.ts'
import { asEncapsulated } from './native-rtf.ts'
import { readTnef, type Tnef } from './tnef.ts'

/** Contents of a `winmail.dat`: its text ('' if it has none) and its files as ordinary attachments. */
export interface Unpacked {
  text: string
  attachments: InboundAttachment[]
}

const MAX_NESTED = 3
const MAX_RTF = 4 * 1024 * 1024

/** Whether an attachment is TNEF, by its type or its name. */
export const isTnef = ({ name, type }: InboundAttachment): boolean =>
  type === 'application/ms-tnef' || type === 'application/vnd.ms-tnef' || /^win(?:mail)?\.dat$/i.test(name)

/**
 * Returns null if the data is unreadable or empty. Nested messages are unpacked too: their text becomes a
 * file, and their files are added to the others.
 */
export function unpackTnef(bytes: Uint8Array, budget: Budget, depth = 0): Unpacked | null {
  const tnef = tryRead(bytes)
  if (tnef === null) return null
  const attachments = tnef.files.flatMap((file, index): InboundAttachment[] => {
    const inner = file.isMessage && depth < MAX_NESTED ? unpackTnef(file.content, budget, depth + 1) : null
    if (inner === null) return [namedAttachment(file.name, file.type, new Uint8Array(file.content), index)]
    const text = namedAttachment(
      `${file.name || 'message'}.txt`,
      'text/plain; charset=utf-8',
      Buffer.from(inner.text),
      index,
    )
    return [text, ...inner.attachments]
  })
  const text = textOf(tnef, budget)
  return text === '' && attachments.length === 0 ? null : { text, attachments }
}

function tryRead(bytes: Uint8Array): Tnef | null {
  try {
    return readTnef(bytes)
  } catch {
    return null
  }
}

function textOf({ text, html, rtf }: Tnef, budget: Budget): string {
  if (text?.trim()) return text
  if (html?.trim()) return htmlToReadable(html, budget)
  const inner = rtf === null ? null : unwrapRtf(rtf, budget)
  if (inner === null) return ''
  return inner.mode === 'html' ? htmlToReadable(inner.text, budget) : inner.text
}

/** Extracts HTML or text that Outlook encapsulated in RTF ([MS-OXRTFEX]), or else the text of the RTF itself. */
function unwrapRtf(compressed: Buffer, budget: Budget): { mode: 'html' | 'text'; text: string } | null {
  // The library does not check the sizes in the header.
  if (compressed.length < 16 || compressed.length > MAX_RTF) return null
  if (compressed.readUInt32LE(0) + 4 > compressed.length || compressed.readUInt32LE(4) > MAX_RTF) return null
  return budget.spend(0.4, () => {
    // Invalid escapes are removed because the library would report them on the console.
    const rtf = Buffer.from(decompressRTF([...compressed]))
      .toString('latin1')
      .replace(/\\'(?![0-9a-f]{2})/gi, '')
    const { mode, text } = deEncapsulateSync(Buffer.from(asEncapsulated(rtf), 'latin1'), {
      decode: iconv.decode,
      mode: 'either',
      warn: () => undefined,
    })
    return { mode, text: text.toString() }
  })
}
