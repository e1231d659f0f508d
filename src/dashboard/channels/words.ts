import { language } from '../parts/language.ts'
import { type Channel, wordsIn } from './channels.ts'

/** The words of a channel in the language of the page. */
export const wordsOf = (channel: Channel) => wordsIn(language, channel)
