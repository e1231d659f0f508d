import type { text as english } from '../home/strings.ts'

export const home: typeof english = {
  title: 'Start',
  needsYou: 'Braucht Sie',
  nothing: 'Nichts braucht Sie gerade. Was Sie braucht, wird hier aufgeführt.',
  fleet: 'Agenten',
  list: 'Alle Agenten, zuerst die, die einen Menschen brauchen',
  columns: {
    agent: 'Agent',
    state: 'Empfang',
    needs: 'Braucht',
    unread: 'Ungelesen',
    day: 'Letzte 24 Stunden',
  },
  listening: 'Empfängt',
  notListening: 'Empfängt nicht',
  since: 'seit',
  needs: {
    failing: (count) => (count === 1 ? 'Ein Webhook schlägt fehl' : `${count} Webhooks schlagen fehl`),
    deaf: (count) =>
      count === 1
        ? 'Eine Nachricht, die kein Programm bekommen hat'
        : `${count} Nachrichten, die kein Programm bekommen hat`,
    held: (count) => (count === 1 ? 'Eine Nachricht freizugeben' : `${count} Nachrichten freizugeben`),
    silent: 'Kein Programm empfängt mehr',
    unconnected: 'Noch kein Programm ist verbunden',
    refused: (count) => (count === 1 ? 'Eine abgewiesene Nachricht' : `${count} abgewiesene Nachrichten`),
    unread: (count) => `${count} ungelesen`,
  },
  all: {
    held: (count) =>
      count === 1
        ? 'Eine Nachricht wartet auf Ihre Freigabe.'
        : `${count} Nachrichten warten auf Ihre Freigabe.`,
    failing: (count) => (count === 1 ? 'Ein Webhook schlägt fehl.' : `${count} Webhooks schlagen fehl.`),
    deaf: (agents, messages) =>
      `${agents === 1 ? 'Ein Agent empfängt nicht und hat' : `${agents} Agenten empfangen nicht und haben`} ${messages === 1 ? 'eine Nachricht' : `${messages} Nachrichten`} verpasst.`,
    refused: (count) =>
      count === 1
        ? 'Diese Woche wurde eine Nachricht abgewiesen.'
        : `Diese Woche wurden ${count} Nachrichten abgewiesen.`,
  },
  activity: (total, most, hour) =>
    total === 0
      ? 'Keine Nachricht in 24 Stunden'
      : `${total} ${total === 1 ? 'Nachricht' : 'Nachrichten'} in 24 Stunden, die meisten (${most}) in der Stunde ab ${hour}`,
}
