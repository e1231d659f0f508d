/** Something that happened, or is so. */
export interface Moment {
  at: Date
  what: string
}

/** What happened to one thing, in order. */
export interface Trace {
  about: string
  moments: Moment[]
}

/** A text from outside on one line, without what a terminal would obey. */
export const plain = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300)

/** For a terminal. */
export const asText = (traces: readonly Trace[]): string =>
  traces
    .flatMap(({ about, moments }) => [
      about,
      ...moments
        .toSorted((one, other) => one.at.getTime() - other.at.getTime())
        .map(({ at, what }) => `  ${at.toISOString()}  ${what}`),
      '',
    ])
    .join('\n')
    .trimEnd()
