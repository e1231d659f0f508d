import { words } from '../parts/words.ts'

/** The words of what is done with threads. */
export const text = words('triage', {
  undo: 'Undo',
  block: 'Block',
  mayBlock: (sender: string) => `Should mail from ${sender} be refused from now on?`,
  blocked: (sender: string) => `${sender} is blocked.`,
  wasDone: (count: number) => (count === 1 ? 'Done.' : `${count} threads are done.`),
  reopened: (count: number) => (count === 1 ? 'Open again.' : `${count} threads are open again.`),
  wasSnoozed: (count: number, until: string) =>
    `${count === 1 ? 'Snoozed' : `${count} threads are snoozed`} until ${until}.`,
  markedSpam: (count: number) => (count === 1 ? 'Marked as spam.' : `${count} threads are marked as spam.`),
  snooze: 'Snooze',
  laterToday: 'Later today',
  tomorrow: 'Tomorrow',
  nextWeek: 'Next week',
  wakeNow: 'Open again now',
  snoozeAt: 'At',
  snoozeHint: 'It comes back to the inbox at this time, or when a message arrives.',
  marked: (count: number) => (count === 1 ? 'One thread was changed.' : `${count} threads were changed.`),
})
