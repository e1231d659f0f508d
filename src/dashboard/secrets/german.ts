import type { text as english } from './strings.ts'

export const secrets: typeof english = {
  hint: 'Benannte Werte für den Agenten, wie Schlüssel und Passwörter. Sie sind verschlüsselt. Nur das eigene Token des Agenten kann sie lesen, und das Protokoll hält jedes Lesen fest. Hier werden sie nie gezeigt.',
  set: 'Geheimnis setzen',
  replace: 'Ersetzen',
  remove: 'Löschen',
  none: 'Noch keine Geheimnisse',
  noneHint:
    'Setzen Sie einen Schlüssel, den der Agent braucht, statt ihn in einen Prompt oder eine Datei zu schreiben.',
  list: 'Geheimnisse dieses Agenten',
  columns: { name: 'Name', setBy: 'Gesetzt von', updated: 'Zuletzt gesetzt', actions: 'Ändern' },
  setBy: { member: 'einem Mitglied', agent: 'dem Agenten', operator: 'dem Betreiber' },
  name: 'Name',
  nameHint: 'Buchstaben, Ziffern, _, . und -, wie STRIPE_KEY.',
  value: 'Wert',
  valueHint: 'Höchstens 64 KiB. Er kann hier danach nicht gelesen, nur ersetzt werden.',
  submit: 'Speichern',
  saved: (name) => `${name} ist gesetzt.`,
  unguarded: (name) =>
    `${name} ist gesetzt. In Nachrichten wird der Wert nicht gesucht: Er ist zu kurz oder zu gebräuchlich.`,
  deleteTitle: (name) => `${name} löschen?`,
  deleteHint:
    'Programme, die den Wert lesen, finden ihn nicht mehr. Das kann nicht rückgängig gemacht werden.',
  use: 'In einem Programm benutzen, ohne eine Datei',
}
