import type { text as english } from './strings.ts'

export const outbox: typeof english = {
  title: 'Postausgang',
  tabs: 'Seiten des Postausgangs',
  messages: 'Nachrichten',
  suppressed: 'Sperrlisten',
  captured:
    'Es ist kein Mailserver zum Senden eingerichtet: E-Mails werden in DATA_DIR/outbox gespeichert und hier gezeigt, aber nicht gesendet. Setzen Sie SMTP_RELAY_URL, um sie zu senden.',
  filter: 'Welche Nachrichten',
  filters: {
    all: 'Alle',
    sending: 'Ausstehend',
    sent: 'Gesendet',
    failed: 'Fehlgeschlagen',
    reported: 'Als Spam gemeldet',
  },
  list: 'Nachrichten, die Agenten senden',
  columns: { message: 'Nachricht', agent: 'Agent', status: 'Status', at: 'Wann' },
  to: (recipients) => `An ${recipients}`,
  noSubject: '(kein Betreff)',
  status: {
    failed: 'Fehlgeschlagen',
    reported: 'Als Spam gemeldet',
    sending: 'Ausstehend',
    sent: 'Gesendet',
    captured: 'Nur gespeichert',
    approval: 'Wartet auf Freigabe',
    schedule: 'Geplant',
  },
  some: (accepted, all) => `${accepted} von ${all} gesendet`,
  none: 'Es wurde noch nichts gesendet',
  noneHint: 'Was Sie und Ihre Agenten senden, erscheint hier mit seinem Status.',
  noneSuch: 'Keine passenden Nachrichten',
  noneSuchHint: 'Wählen Sie „Alle“, um alles Gesendete zu sehen.',
  write: 'Nachricht schreiben',
  suppressedIntro:
    'An diese Empfänger senden Agenten nicht, weil E-Mails an sie dauerhaft unzustellbar waren oder sie sie als Spam gemeldet haben.',
  suppressedOf: (agent) => `Sperrliste von ${agent}`,
  suppressedColumns: { recipient: 'Empfänger', reason: 'Grund', since: 'Seit', remove: 'Entfernen' },
  reasons: { bounce: 'Unzustellbar', complaint: 'Als Spam gemeldet' },
  noneSuppressed: 'Keine gesperrten Empfänger',
  noneSuppressedHint:
    'Wenn E-Mails an einen Empfänger dauerhaft unzustellbar sind oder als Spam gemeldet werden, sendet der Agent ihm nicht mehr, und er steht hier.',
  remove: 'Entfernen',
  removeOf: (recipient) => `${recipient} entfernen`,
  removeTitle: (recipient) => `Wieder an ${recipient} senden?`,
  removeHint:
    'Der Agent kann dann wieder an diese Adresse senden. Sind E-Mails erneut unzustellbar, kommt sie auf die Liste zurück.',
  removed: (recipient) => `${recipient} wurde von der Liste genommen.`,
}
