/**
 * Characters that people cannot see but models read: tags (from U+E0000), except in the flags that are
 * spelled with them; and a variation selector that follows another one. Each of those can encode a byte, and
 * a character never has more than one.
 */
const INVISIBLE =
  /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,6})[\u{e0000}-\u{e007f}]+|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu

/** Returns text without characters that people cannot see but models read. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '')
