/**
 * Converts to lower case, as addresses are compared, except for the characters whose lower case is ASCII: that of
 * U+212A (the Kelvin sign) is `k`, that of U+0130 begins with `i`. With it a stranger's address could equal another.
 */
export const lowerCase = (text: string): string =>
  text.replace(/[^\u0130\u212a]+/g, (part) => part.toLowerCase())

/** The same in SQL: `lower` does not see these two. No address contains a character for private use. */
export const lowerCaseSql = (text: string): string =>
  `translate(lower(translate(${text}, U&'\\0130\\212A', U&'\\E000\\E001')), U&'\\E000\\E001', U&'\\0130\\212A')`
