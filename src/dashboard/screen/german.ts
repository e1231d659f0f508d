import type { text as english } from './strings.ts'

export const screen: typeof english = {
  missing: 'Diese Seite gibt es nicht',
  missingHint:
    'Die Adresse ist vielleicht falsch geschrieben, oder die Seite zeigt etwas, das gelöscht wurde.',
  toInbox: 'Zum Posteingang',
}
