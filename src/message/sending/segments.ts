import { CHANNELS, type ChannelKind } from '../../core/channels.ts'

/**
 * Counts the parts in which a text is sent as SMS (3GPP TS 23.038 and 23.040), which is what carriers charge
 * for.
 */

/** The default alphabet without ESC, which only introduces the extension table. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Encoded as ESC and another character. */
const EXTENDED = new Set('\f^{}\\[~]|€')

interface Alphabet {
  /**
   * Capacity of a single message, and of each part of a longer one, which also carries a header to join the
   * parts.
   */
  alone: number
  part: number
}
const GSM_7: Alphabet = { alone: 160, part: 153 }
const UCS_2: Alphabet = { alone: 70, part: 67 }

/** Cost of each character, in septets or in 16-bit units. */
const costsOf = (text: string): { alphabet: Alphabet; costs: number[] } => {
  const characters = [...text]
  const isGsm = characters.every((character) => BASIC.has(character) || EXTENDED.has(character))
  if (isGsm)
    return { alphabet: GSM_7, costs: characters.map((character) => (EXTENDED.has(character) ? 2 : 1)) }
  return { alphabet: UCS_2, costs: characters.map((character) => character.length) }
}

/** Returns the number of parts. A character that takes two units is never split. */
export const countSegments = (text: string): number => {
  const { alphabet, costs } = costsOf(text)
  if (costs.reduce((sum, cost) => sum + cost, 0) <= alphabet.alone) return 1
  let parts = 1
  let used = 0
  for (const cost of costs) {
    if (used + cost > alphabet.part) {
      parts++
      used = 0
    }
    used += cost
  }
  return parts
}

/** Returns the number of parts a message has as SMS; null on the other channels. */
export const segmentsOf = ({ channel, text }: { channel: string; text: string }): number | null =>
  CHANNELS[channel as ChannelKind].segments ? countSegments(text) : null
