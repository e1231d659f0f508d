import type { text as english } from './strings.ts'

export const access: typeof english = {
  intro:
    'Nachrichten von allen anderen werden abgewiesen und mit dem Grund gespeichert; Sie können sie später zulassen. Mitglieder, Agenten und eingetragene Absender werden nur erkannt, wenn die Nachricht beweist, wer sie gesendet hat.',
  url: 'Nachrichten-URL',
  notSetUp: 'Der Agent hat auf diesem Kanal noch keine Adresse. Die Regeln gelten, sobald er eine hat.',
  urlHint: 'Dorthin können nur Mitglieder und Agenten des Arbeitsbereichs schreiben.',
  admit: 'Wer schreiben darf',
  admits: {
    list: 'Nur eingetragene Absender',
    team: 'Das Team und eingetragene Absender',
    anyone: 'Alle',
  },
  admitHints: {
    list: '',
    team: 'Mitglieder und Agenten des Arbeitsbereichs.',
    anyone: 'Alle, die nicht gesperrt sind, ganz gleich, wer sie sind.',
  },
  listed: 'Eingetragene Absender',
  blocked: 'Gesperrte Absender',
  noneListed: 'Niemand ist eingetragen.',
  noneBlocked: 'Niemand ist gesperrt.',
  addListed: 'Absender eintragen',
  addBlocked: 'Absender sperren',
  add: 'Eintragen',
  block: 'Sperren',
  remove: (entry) => `${entry} entfernen`,
  removed: (entry) => `${entry} wurde entfernt.`,
  undo: 'Rückgängig',
  choose: 'Auswählen…',
  notAllowed: 'Sie dürfen das nicht ändern.',
}
