/** The languages that the application's words exist in. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const KEY = 'ams-language'

const languageOf = (tag: string): Language | undefined =>
  LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language)

/** What the member chose; `system` leaves it to the browser. */
export const chosenLanguage = LANGUAGES.find((one) => one === localStorage.getItem(KEY)) ?? 'system'

const ofBrowser = navigator.languages.map(languageOf).find((one) => one !== undefined)

/** The language of the page, which does not change until it is loaded again. */
export const language = chosenLanguage === 'system' ? (ofBrowser ?? 'en') : chosenLanguage

/** With the region that the browser names, on which the order of dates depends. */
export const locale = navigator.languages.find((tag) => languageOf(tag) === language) ?? language

document.documentElement.lang = language

export const chooseLanguage = (next: Language | 'system'): void => {
  localStorage.setItem(KEY, next)
  location.reload()
}
