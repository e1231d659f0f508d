import { language } from './language.ts'

type AllWords = Readonly<Record<string, object>>

/**
 * Not an `import()`: the translations take their types from the words of the folders, which this module makes.
 * They may not import any code, as all code waits for them.
 */
const TRANSLATIONS = import.meta.glob<AllWords>('../german.ts')

const translated = language === 'de' ? await TRANSLATIONS['../german.ts']?.() : undefined

/** The words of a folder in the language of the page. */
export const words = <Words extends object>(folder: string, english: Words): Words =>
  (translated?.[folder] as Words | undefined) ?? english
