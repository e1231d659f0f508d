const MAX_SLUG_LENGTH = 40

/**
 * Returns `mullers-support-bot` for `Müller's Support Bot` (`muellers-…` would require knowing the language),
 * or '' when nothing remains.
 */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|(?<!-)-+$/g, '')
