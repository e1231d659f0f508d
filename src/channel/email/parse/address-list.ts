import { addressParser, type Mailbox } from 'postal-mime'

const MAX_CHARACTERS = 128 * 1024
// Nobody is shown as many addresses, and nobody writes to as many groups.
const MAX_COMMAS = 2_000
const MAX_COLONS = 20

/**
 * The mailboxes of a From, To or the like, those of its groups too; of a longer one than people write, the
 * first.
 */
export const addressesIn = (value: string): Mailbox[] =>
  addressParser(value.slice(0, endOf(value)), { flatten: true }) as Mailbox[]

/**
 * postal-mime reads all behind a group's colon again, and takes each address apart before anybody can say
 * that they are too many.
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
