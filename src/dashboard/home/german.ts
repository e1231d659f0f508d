import type { text as english } from './strings.ts'

export const home: typeof english = {
  title: 'Start',
  needsYou: 'Braucht Ihre Aufmerksamkeit',
  nothing: 'Gerade ist nichts zu tun. Was Ihre Aufmerksamkeit braucht, erscheint hier.',
  fleet: 'Agenten',
  list: 'Alle Agenten, zuerst die, um die sich jemand kümmern muss',
  columns: {
    agent: 'Agent',
    state: 'Empfang',
    needs: 'Zu tun',
    unread: 'Ungelesen',
    day: 'Letzte 24 Stunden',
  },
  listening: 'Empfängt',
  notListening: 'Empfängt nicht',
  since: 'seit',
  needs: {
    failing: (count) => (count === 1 ? 'Ein Webhook ist gestört' : `${count} Webhooks sind gestört`),
    deaf: (count) =>
      count === '1'
        ? 'Eine Nachricht, die kein Programm erhalten hat'
        : `${count} Nachrichten, die kein Programm erhalten hat`,
    held: (count) =>
      count === 1 ? 'Eine Nachricht ist freizugeben' : `${count} Nachrichten sind freizugeben`,
    silent: 'Kein Programm empfängt mehr',
    unconnected: 'Noch kein Programm verbunden',
    refused: (count) => (count === 1 ? 'Eine abgewiesene Nachricht' : `${count} abgewiesene Nachrichten`),
    unread: (count) => `${count} ungelesen`,
  },
  all: {
    held: (count) =>
      count === 1
        ? 'Eine Nachricht wartet auf Ihre Freigabe.'
        : `${count} Nachrichten warten auf Ihre Freigabe.`,
    asked: (count) => (count === 1 ? 'Ein Agent fragt Sie etwas.' : `Agenten fragen Sie ${count} Mal etwas.`),
    failing: (count) => (count === 1 ? 'Ein Webhook ist gestört.' : `${count} Webhooks sind gestört.`),
    deaf: (agents, messages) =>
      `${agents === 1 ? 'Ein Agent empfängt nicht und hat' : `${agents} Agenten empfangen nicht und haben`} ${messages === '1' ? 'eine Nachricht' : `${messages} Nachrichten`} verpasst.`,
    refused: (count) =>
      count === 1
        ? 'Diese Woche wurde eine Nachricht abgewiesen.'
        : `Diese Woche wurden ${count} Nachrichten abgewiesen.`,
  },
  activity: (total, most, hour) =>
    total === '0'
      ? 'Keine Nachricht in 24 Stunden'
      : `${total} ${total === '1' ? 'Nachricht' : 'Nachrichten'} in 24 Stunden, die meisten (${most}) in der Stunde ab ${hour}`,
}
