import { addressParser, type Mailbox } from 'postal-mime'

const MAX_CHARACTERS = 128 * 1024
// Longer lists are not displayed in full, and real mail has fewer groups.
const MAX_COMMAS = 2_000
const MAX_COLONS = 20

/**
 * Parses the mailboxes of a From, To or similar header, including those in groups. Overlong lists are cut.
 */
export const addressesIn = (value: string): Mailbox[] =>
  addressParser(value.slice(0, endOf(value)), { flatten: true }) as Mailbox[]

/**
 * Position at which the list must be cut: postal-mime parses the rest of the list again for each group's
 * colon, and parses all addresses before they can be counted.
 */
function endOf(value: string): number {
  const length = Math.min(value.length, MAX_CHARACTERS)
  let [commas, colons, quoted] = [0, 0, false]
  for (let i = 0; i < length; i++) {
    const character = value[i]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') i++
    else if (!quoted && character === ',' && ++commas > MAX_COMMAS) return i
    else if (!quoted && character === ':' && ++colons > MAX_COLONS) return i
  }
  return length
}
