import type { text as english } from './strings.ts'

export const domains: typeof english = {
  add: 'Domain hinzufügen',
  none: 'Keine eigenen Domains',
  noneHint:
    'Auf einer eigenen Domain haben Agenten Adressen wie hilfe@example.com. Sie veröffentlichen dafür einige DNS-Einträge; diese Seite zeigt, welche, und ob sie gefunden wurden.',
  name: 'Domain',
  nameHint: 'Wie example.com, oder agenten.example.com neben Ihrer übrigen E-Mail.',
  submit: 'Hinzufügen',
  check: 'Jetzt prüfen',
  checked: 'Geprüft',
  neverChecked: 'Noch nicht geprüft',
  remove: 'Entfernen',
  removeTitle: (name) => `${name} entfernen?`,
  removeHint:
    'Kein Agent darf eine Adresse auf dieser Domain haben. Danach können Sie ihre DNS-Einträge entfernen.',
  states: { pending: 'Wartet auf DNS', verified: 'Bestätigt', broken: 'Fehlerhaft' },
  stateHints: {
    pending:
      'Veröffentlichen Sie die nötigen Einträge bei Ihrem DNS-Anbieter, und prüfen Sie dann. Es kann einige Minuten dauern, bis sie sichtbar sind.',
    verified: 'Agenten können Adressen auf dieser Domain haben. Sie wird jeden Tag erneut geprüft.',
    broken:
      'Ihre Einträge stimmen nicht mehr. Vorhandene Adressen funktionieren noch, neue können nicht hinzukommen.',
  },
  catchAll: 'Alle übrigen E-Mails',
  catchAllHint: (name) => `Wer E-Mails an Adressen bei ${name} erhält, die kein Agent hat.`,
  nobody: 'Niemand: sie werden abgelehnt',
  records: (name) => `DNS-Einträge von ${name}`,
  columns: { purpose: 'Eintrag', name: 'Name', value: 'Wert', state: 'Gefunden' },
  purposes: { ownership: 'Eigentum', mx: 'Empfang', dkim: 'Signatur', spf: 'SPF', dmarc: 'DMARC' },
  optional: 'empfohlen',
  ok: 'Richtig',
  missing: 'Nicht gefunden',
  wrong: 'Falsch',
  recordName: 'den Namen',
  recordValue: 'den Wert',
  priority: (priority) => `Priorität ${priority}`,
}
