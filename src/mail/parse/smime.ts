import { type BaseBlock, Constructed, fromBER, ObjectIdentifier, OctetString } from 'asn1js'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import type { Budget } from '../decode/time-budget.ts'

/** The type of the first part of a message that is encrypted with PGP/MIME (RFC 3156). */
export const ENCRYPTED_PGP = 'application/pgp-encrypted'

// The content types of the Cryptographic Message Syntax (RFC 5652, 5083).
const SIGNED_DATA = '1.2.840.113549.1.7.2'
const ENCRYPTED = ['1.2.840.113549.1.7.3', '1.2.840.113549.1.7.6', '1.2.840.113549.1.9.16.1.23']

/** Whether an attachment is a signed or encrypted message (RFC 8551). */
export const isSmime = ({ name, type }: InboundAttachment): boolean =>
  /^application\/(?:x-)?pkcs7-mime$/.test(type) || /^smime\.p7m$/i.test(name)

/**
 * Returns the message in an opaque signature, with its header; `encrypted` if it is encrypted; or null if it
 * is neither or cannot be read. The signature is not verified.
 */
export const unwrapSmime = (bytes: Uint8Array, budget: Budget): Uint8Array | 'encrypted' | null =>
  budget.spend(0.4, () => {
    const { result, offset } = fromBER(bytes.slice().buffer)
    const [type, content] = offset < 0 ? [] : childrenOf(result)
    if (!(type instanceof ObjectIdentifier)) return null
    if (ENCRYPTED.includes(type.getValue())) return 'encrypted'
    return type.getValue() === SIGNED_DATA ? enclosedIn(content) : null
  })

/** ContentInfo, SignedData and EncapsulatedContentInfo are sequences (RFC 5652 5.1). */
function enclosedIn(content: BaseBlock | undefined): Uint8Array | null {
  const [, , encapsulated] = childrenOf(childrenOf(content)[0])
  const [octets] = childrenOf(childrenOf(encapsulated)[1])
  return octets instanceof OctetString ? new Uint8Array(octets.getValue()) : null
}

const childrenOf = (block: BaseBlock | undefined): BaseBlock[] =>
  block instanceof Constructed ? block.valueBlock.value : []
