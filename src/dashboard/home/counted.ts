import { locale } from '../parts/language.ts'

/** How far the service counts, as the descriptions of these fields say. */
export const MOST = { unheard: 100, unread: 1_000, inAnHour: 200 } as const

/** A number as it is shown, with a plus if counting ended there. */
export const counted = (count: number, isMore: boolean): string =>
  `${count.toLocaleString(locale)}${isMore ? '+' : ''}`
