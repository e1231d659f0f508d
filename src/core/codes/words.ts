/**
 * What a language says in messages with codes and links, and in those that only look like it: words and phrases, separated by commas. `*` stands
 * for any ending. Accents, hyphens and apostrophes do not matter (see `fold`).
 */
export interface Words {
  /** Names of a code, which can also name something else. */
  code: string
  /** Names of a code that proves who somebody is. */
  once: string
  signIn: string
  verify: string
  reset: string
  /** How long a code or a link is valid. */
  expiry: string
  /** That it must be kept secret, or can be used once. */
  warn: string
  /** What to do if somebody else asked for it. */
  ignore: string
  /** Names of links that do something else with an account. */
  other: string
  /** Names of links that are none of these, such as those to unsubscribe. */
  drop: string
  /** What other numbers are: orders, phone numbers, prices. */
  not: string
  /** What is said in shops and of journeys, whose codes are discounts and bookings. */
  shop: string
}

/** The kinds of words, as bits: a phrase may be of several. */
export const KIND = {
  code: 1,
  once: 2,
  signIn: 4,
  verify: 8,
  reset: 16,
  expiry: 32,
  warn: 64,
  ignore: 128,
  other: 256,
  drop: 512,
  not: 1024,
  shop: 2048,
} as const satisfies Record<keyof Words, number>

/** The kind of words that have a number directly after them, which is no code then. */
export const OWNER = 4096
/** The kind of words that say whose a code is. */
export const YOUR = 8192
