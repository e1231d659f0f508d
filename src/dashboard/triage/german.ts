import type { text as english } from './strings.ts'

export const triage: typeof english = {
  undo: 'Rückgängig',
  block: 'Sperren',
  mayBlock: (sender) => `Sollen E-Mails von ${sender} ab jetzt abgewiesen werden?`,
  blocked: (sender) => `${sender} ist gesperrt.`,
  wasDone: (count) => (count === 1 ? 'Erledigt.' : `${count} Unterhaltungen sind erledigt.`),
  reopened: (count) => (count === 1 ? 'Wieder offen.' : `${count} Unterhaltungen sind wieder offen.`),
  wasSnoozed: (count, until) =>
    `${count === 1 ? 'Zurückgestellt' : `${count} Unterhaltungen sind zurückgestellt`} bis ${until}.`,
  markedSpam: (count) =>
    count === 1 ? 'Als Spam markiert.' : `${count} Unterhaltungen sind als Spam markiert.`,
  snooze: 'Zurückstellen',
  laterToday: 'Später heute',
  tomorrow: 'Morgen',
  nextWeek: 'Nächste Woche',
  wakeNow: 'Jetzt wieder öffnen',
  snoozeAt: 'Zeitpunkt',
  snoozeHint:
    'Die Unterhaltung kommt zu diesem Zeitpunkt in den Posteingang zurück, oder wenn eine Nachricht ankommt.',
  marked: (count) =>
    count === 1 ? 'Eine Unterhaltung wurde geändert.' : `${count} Unterhaltungen wurden geändert.`,
}
