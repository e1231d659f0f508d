import type { text as english } from './strings.ts'

export const parts: typeof english = {
  close: 'Schließen',
  cancel: 'Abbrechen',
  done: 'Fertig',
  copy: 'Kopieren',
  copied: 'Kopiert',
  notCopied:
    'Ihr Browser hat das Kopieren nicht erlaubt. Markieren Sie den Text, und kopieren Sie ihn mit der Tastatur.',
  copyOf: (what) => `${what} kopieren`,
  more: 'Mehr anzeigen',
  loading: 'Wird geladen…',
  tryAgain: 'Erneut versuchen',
  requestId: (id) => `Anfrage ${id}`,
  failed: 'Das konnte nicht geladen werden',
  justNow: 'jetzt',
  typeName: (name) => `Zur Bestätigung ${name} eingeben`,
  icon: 'Symbol',
  addLabel: 'Schlagwort hinzufügen',
  newLabel: 'Schlagwort',
  events: {
    'message.received': 'Eine Nachricht ist angekommen',
    'message.refused': 'Eine Nachricht wurde abgewiesen',
    'message.held': 'Eine Nachricht wartet auf Freigabe',
    'message.sent': 'Eine Nachricht wurde gesendet',
    'message.failed': 'Eine Nachricht konnte nicht gesendet werden',
    'message.reported': 'Eine Nachricht wurde als Spam gemeldet',
    'question.answered': 'Eine Frage wurde beantwortet oder ist abgelaufen',
  },
}
