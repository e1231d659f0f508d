import type { HeaderField } from '../header/header-value.ts'
import { fieldsOf, headerLength, lacksSeparator, type RawHeader, valuesOf } from '../header/headers.ts'
import { type Fault, MAX_FIELD, readSignature, readTags, type Signature } from './dkim-signature.ts'

// mailauth compares each field with each name in h=, and hashes the body once for each way in which it is signed.
const MAX_HEADER = 128 * 1024
const MAX_LINES = 2_000
const MAX_SIGNATURES = 10
/** Maximum length of From. Its parsers are slow with longer values. */
const MAX_FROM = 2 * 1024

/**
 * Returns why the header must not be verified, or null: mail clients could disagree about the author or about
 * which part of the message belongs to the header.
 */
export function headerFault(raw: Uint8Array, headers: readonly RawHeader[]): string | null {
  const block = raw.subarray(0, headerLength(raw))
  if (block.length > MAX_HEADER) return `the header is longer than ${MAX_HEADER / 1024} KiB`
  const text = Buffer.from(block).toString('latin1')
  if (text.split('\n').length > MAX_LINES) return `the header has more than ${MAX_LINES} lines`
  if (/\r(?!\n)|\0/.test(text))
    return 'the header has a bare carriage return or a NUL, which parsers interpret differently'
  // Some parsers would treat the body as part of the header, so that the signature would cover an empty body.
  if (lacksSeparator(raw))
    return 'no empty line stands between the header and the body, so that readers disagree where it begins'
  const from = valuesOf(headers, 'from')
  if (from.length !== 1)
    return from.length === 0 ? 'there is no From' : `there are ${from.length} From headers`
  if (from[0]!.length > MAX_FROM) return `From is longer than ${MAX_FROM / 1024} KiB`
  if (valuesOf(headers, 'content-type').some(({ length }) => length > MAX_FIELD))
    return `Content-Type is longer than ${MAX_FIELD / 1024} KiB`
  return valuesOf(headers, 'dkim-signature').length > MAX_SIGNATURES
    ? `more than ${MAX_SIGNATURES} DKIM signatures`
    : null
}

/** What is passed to mailauth, and what was removed from it. */
export interface Screened {
  /** The fields, without signatures and seals that mailauth interprets differently than the standards do. */
  fields: HeaderField[]
  body: Uint8Array
  /** Whether any remaining field contains a hash of the body. */
  isSigned: boolean
  /** The remaining signatures, in the order of the header. */
  signatures: Signature[]
  faults: Fault[]
  /** Why the ARC chain was removed; null if it was not. */
  chainFault: string | null
}

/** Removes from the header what mailauth must not parse. */
export function screen(raw: Uint8Array): Screened {
  const fields = fieldsOf(raw)
  const read = fields.map((field) =>
    nameOf(field) === 'dkim-signature' ? readSignature(textAfterName(field)) : null,
  )
  const chainFault = fields.some((field) => !isFitForChain(field))
    ? 'a field of the chain is longer than 8 KiB, or is ambiguous'
    : null
  const kept = fields.filter(
    (field, i) =>
      field.name !== '' && !isFault(read[i]) && (chainFault === null || !nameOf(field).startsWith('arc-')),
  )
  const signatures = read.filter((one): one is Signature => one != null && !isFault(one))
  return {
    fields: kept,
    body: raw.subarray(headerLength(raw)),
    isSigned: signatures.length > 0 || kept.some((field) => nameOf(field) === 'arc-message-signature'),
    signatures,
    faults: read.filter(isFault),
    chainFault,
  }
}

const isFault = (read: Signature | Fault | null | undefined): read is Fault =>
  read != null && 'reason' in read

const nameOf = ({ name }: HeaderField): string => name.toLowerCase()

const textOf = ({ lines }: HeaderField): string => lines.map((line) => line.toString('latin1')).join('\r\n')

const textAfterName = (field: HeaderField): string => {
  const text = textOf(field)
  return text.slice(text.indexOf(':') + 1)
}

function isFitForChain(field: HeaderField): boolean {
  const name = nameOf(field)
  if (name === 'arc-authentication-results') return textOf(field).length <= MAX_FIELD
  if (name !== 'arc-seal' && name !== 'arc-message-signature') return true
  return readTags(textAfterName(field)) !== null
}
