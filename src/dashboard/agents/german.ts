import type { text as english } from './strings.ts'

export const agents: typeof english = {
  title: 'Agenten',
  create: 'Neuer Agent',
  none: 'Noch keine Agenten',
  noneHint:
    'Ein Agent bekommt eine E-Mail-Adresse, wenn er erstellt wird. Sie entscheiden, wer ihm schreiben darf.',
  name: 'Name',
  nameHint: 'Was andere sehen: Support, Release-Bot.',
  submit: 'Agent erstellen',
  list: 'Die Agenten des Arbeitsbereichs',
  columns: { agent: 'Agent', address: 'Adresse', unread: 'Ungelesen', last: 'Letzte Nachricht' },
  never: 'keine',
}
