const LONGEST_SLUG = 40

/**
 * `Müller's Support Bot` → `muellers-support-bot` would need a language; this gives `mullers-support-bot`. ''
 * when nothing is left.
 */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|(?<!-)-+$/g, '')
