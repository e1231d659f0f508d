import { words } from '../parts/words.ts'

/** The words of the screen with an agent's secrets. */
export const text = words('secrets', {
  hint: 'Named values for the agent, such as keys and passwords. They are encrypted. Only the agent’s own token can read them, and the audit log records each time it does. They are never shown here.',
  set: 'Set a secret',
  replace: 'Replace',
  remove: 'Delete',
  none: 'No secrets yet',
  noneHint: 'Set a key that the agent needs, instead of writing it into a prompt or a file.',
  list: 'Secrets of this agent',
  columns: { name: 'Name', setBy: 'Set by', updated: 'Last set', actions: 'Change' },
  setBy: { member: 'a member', agent: 'the agent', operator: 'the operator' },
  name: 'Name',
  nameHint: 'Letters, digits, _, . and -, such as STRIPE_KEY.',
  value: 'Value',
  valueHint: 'At most 64 KiB. It cannot be read here afterwards, only replaced.',
  submit: 'Save',
  saved: (name: string) => `${name} is set.`,
  unguarded: (name: string) =>
    `${name} is set. Messages are not searched for its value: it is too short or too common.`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteHint: 'Programs that read it will no longer find it. This cannot be undone.',
  use: 'Use them in a program, without a file',
})
