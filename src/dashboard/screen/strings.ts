import { words } from '../parts/words.ts'

/** The words of a screen that is missing. */
export const text = words('screen', {
  missing: 'There is no such page',
  missingHint: 'The address may be mistyped, or the page may show something that was deleted.',
  toInbox: 'Go to the inbox',
})
