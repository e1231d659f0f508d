import type { text as english } from './strings.ts'

export const waiting: typeof english = {
  title: 'Wartet auf Sie',
  tabs: 'Was auf Sie wartet',
  approval: 'Freizugeben',
  approvalHint:
    'Welche Nachrichten hier warten, steht in den Einstellungen jedes Agenten. Worüber sieben Tage lang niemand entscheidet, wird abgelehnt.',
  nothingHeld: 'Keine Nachricht wartet auf Freigabe.',
  questions: 'Fragen',
  questionsHint:
    'Was Agenten die Mitglieder fragen, steht hier, kommt per E-Mail und, wo Sie ein Konto bestätigt haben, in Telegram oder auf Ihr Telefon. Die erste Antwort zählt.',
  noQuestion: 'Kein Agent fragt Sie etwas.',
  asks: (agent) => `${agent} fragt`,
  openUntil: 'Kann beantwortet werden bis',
  answer: 'Antworten',
  yourAnswer: 'Ihre Antwort',
  youAnswered: 'Sie haben geantwortet:',
  over: 'Sie wurde beantwortet oder zurückgezogen, oder ihre Zeit ist abgelaufen.',
  keys: {
    next: 'Nächste',
    previous: 'Vorige',
    select: 'Auswählen',
    selectAll: 'Alle auswählen',
    approveMany: 'Die ausgewählten freigeben',
    rejectMany: 'Die ausgewählten ablehnen',
  },
  selectAll: 'Alle',
  choose: (subject) => `${subject} auswählen`,
  fromTo: (agent, recipients) => `${agent} an ${recipients}`,
  approve: 'Freigeben',
  edit: 'Bearbeiten',
  reject: 'Ablehnen',
  approved: 'Freigegeben: Die Nachricht ist unterwegs.',
  rejected: 'Abgelehnt: Die Nachricht wird nicht gesendet.',
  approveMany: (count) => `${count} freigeben`,
  rejectMany: (count) => `${count} ablehnen`,
  bulkTitle: {
    approve: (count) =>
      count === 1 ? 'Diese Nachricht freigeben?' : `Diese ${count} Nachrichten freigeben?`,
    reject: (count) => (count === 1 ? 'Diese Nachricht ablehnen?' : `Diese ${count} Nachrichten ablehnen?`),
  },
  leftOut: (count) =>
    count === 1
      ? 'Eine Nachricht, deren Änderung noch nicht gesendet ist, wird ausgelassen: Geben Sie sie einzeln frei.'
      : `${count} Nachrichten, deren Änderungen noch nicht gesendet sind, werden ausgelassen: Geben Sie sie einzeln frei.`,
  decided: {
    approve: (count) =>
      count === 1 ? 'Eine Nachricht wurde freigegeben.' : `${count} Nachrichten wurden freigegeben.`,
    reject: (count) =>
      count === 1 ? 'Eine Nachricht wurde abgelehnt.' : `${count} Nachrichten wurden abgelehnt.`,
  },
  approvedBy: (name) => (name ? `Freigegeben von ${name}` : 'Freigegeben'),
  rejectedBy: (name) => (name ? `Abgelehnt von ${name}` : 'Nicht gesendet'),
  rules: {
    all: (agent) => `Jede Nachricht von ${agent} muss freigegeben werden.`,
    strangers: (agent) => `Nachrichten von ${agent} an Fremde müssen freigegeben werden.`,
    none: (agent) => `Nachrichten von ${agent} müssen nicht freigegeben werden.`,
  },
  ruleChanged: (agent) =>
    `Die Einstellungen von ${agent} haben sich seither geändert: Eine Nachricht wie diese würde jetzt ohne Freigabe gesendet.`,
  toSettings: 'Einstellungen',
  stranger: (address, agent) =>
    `${address} hat ${agent} noch nie geschrieben, steht nicht auf seiner Liste der Absender und ist nicht in diesem Arbeitsbereich.`,
  until: 'Wird automatisch abgelehnt am',
  from: 'Von',
  to: 'An',
  cc: 'Cc',
  bcc: 'Bcc',
  subject: 'Betreff',
  view: 'Darstellung',
  views: { html: 'Wie gesendet (HTML)', text: 'Text' },
  before: 'Zuvor in dieser Unterhaltung',
  isFirst: 'Es ist die erste Nachricht ihrer Unterhaltung.',
  wholeThread: (count) => `Unterhaltung öffnen (${count})`,
  editTitle: 'Bearbeiten, dann freigeben',
  messageText: 'Text',
  sendEdited: 'Geänderte Fassung freigeben',
  editOn: 'Weiter bearbeiten',
  editKept: 'Wird beim Schreiben auf diesem Gerät gesichert.',
  original: 'Zurück zum Original',
  decidedMeanwhile: 'Inzwischen hat jemand anderes entschieden:',
  decidedBy: (who) => `freigegeben von ${who}.`,
  somebody: 'einem anderen Mitglied',
  gone: 'Die Nachricht wurde gelöscht.',
  wordsStay: 'Was Sie geschrieben haben, bleibt hier stehen, bis Sie dies schließen.',
  copyWords: 'Ihren Text kopieren',
  rejectTitle: 'Diese Nachricht ablehnen?',
  reason: 'Grund',
  reasonHint: 'Optional. Der Agent liest ihn.',
  noSubject: '(kein Betreff)',
  refused: 'Abgewiesen',
  refusedHint:
    'Nachrichten, die nicht zugelassen wurden. Die Agenten haben nicht von ihnen erfahren; sie werden für begrenzte Zeit aufbewahrt.',
  nothingRefused: 'In letzter Zeit wurde keine Nachricht abgewiesen.',
  letIn: 'Zulassen',
  letInAlways: 'Immer zulassen',
  block: 'Sperren',
  many: (count) => ({
    letIn: `${count} zulassen`,
    letInAlways: `${count} immer zulassen`,
    block: `${count} sperren`,
  }),
  letInDone: (count) =>
    count === 1 ? 'Die Nachricht wurde zugelassen.' : `${count} Nachrichten wurden zugelassen.`,
  letInOnce:
    'Der Absender steht jetzt auf der Liste, aber spätere Nachrichten werden nur zugelassen, wenn sie beweisen, dass sie von ihm sind. Diese tat es nicht.',
  blocked: (senders) => `${senders.join(', ')} ${senders.length === 1 ? 'ist' : 'sind'} gesperrt.`,
  refusedFor: (agent) => `für ${agent}`,
  reasons: {
    self: 'Sie sieht nach einer automatischen Antwort oder einer Schleife aus.',
    spam: 'Sie wurde als Spam eingestuft.',
    plan_limit: 'Die Grenze des Tarifs war erreicht.',
    rate_limit: 'Es kamen zu viele Nachrichten auf einmal an.',
    sender: 'Der Absender ist gesperrt oder steht nicht auf der Liste.',
    outsider: 'Der Absender gehört weder zum Team, noch steht er auf der Liste.',
    unverified: 'Der Absender konnte nicht beweisen, wer er ist.',
  },
}
