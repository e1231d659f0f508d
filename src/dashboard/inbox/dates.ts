/** A span of days that somebody has named, such as a month. */
export interface Period {
  from: Date
  /** The first moment after it. */
  to: Date
}

const monthsIn = (locale: string, month: 'long' | 'short'): string[] => {
  const { format } = new Intl.DateTimeFormat(locale, { month, timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, index) =>
    format(new Date(Date.UTC(2000, index, 1)))
      .toLowerCase()
      .replace('.', ''),
  )
}

/** The month in English or in the language of the page, from 0; -1 for another word. */
const monthNamed = (name: string, locale: string): number => {
  for (const language of ['en', locale])
    for (const length of ['long', 'short'] as const) {
      const index = monthsIn(language, length).indexOf(name)
      if (index >= 0) return index
    }
  return -1
}

const days = (year: number, month: number, day: number, count: number): Period => ({
  from: new Date(year, month, day),
  to: new Date(year, month, day + count),
})

const months = (year: number, month: number, count = 1): Period => ({
  from: new Date(year, month, 1),
  to: new Date(year, month + count, 1),
})

/** A year, a month or a day in digits. */
const numbered = (text: string): Period | null => {
  const [, year, month, day] = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text) ?? []
  if (!year) return null
  if (!month) return months(Number(year), 0, 12)
  const found = day
    ? days(Number(year), Number(month) - 1, Number(day), 1)
    : months(Number(year), Number(month) - 1)
  // There is no 31 February: it would be a day of March.
  return found.from.getMonth() === Number(month) - 1 ? found : null
}

/**
 * Returns the days that a text means, in the time zone of the browser: `2026-03-31`, `2026-03`, `2026`, `march`
 * (the last one that has begun), `march 2025`, `today`, `yesterday`; null for any other text.
 */
export const periodOf = (text: string, now: Date, locale: string): Period | null => {
  const lower = text.toLowerCase().trim()
  const year = now.getFullYear()
  if (lower === 'today') return days(year, now.getMonth(), now.getDate(), 1)
  if (lower === 'yesterday') return days(year, now.getMonth(), now.getDate() - 1, 1)
  const [, name, ofYear] = /^(\p{L}+)(?:[ -](\d{4}))?$/u.exec(lower) ?? []
  if (!name) return numbered(lower)
  const month = monthNamed(name, locale)
  if (month < 0) return null
  return months(ofYear ? Number(ofYear) : month > now.getMonth() ? year - 1 : year, month)
}
