import { words } from '../parts/words.ts'

/** The words of the list of agents. */
export const text = words('agents', {
  title: 'Agents',
  create: 'New agent',
  none: 'No agents yet',
  noneHint: 'An agent gets an email address when it is created. You decide who may write to it.',
  name: 'Name',
  nameHint: 'What people see: Support, Release bot.',
  submit: 'Create agent',
  list: 'The workspace’s agents',
  columns: { agent: 'Agent', address: 'Address', unread: 'Unread', last: 'Last message' },
  never: 'none',
})
