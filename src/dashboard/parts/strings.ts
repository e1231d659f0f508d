import { words } from './words.ts'

/** The words of the parts that screens are made of. */
export const text = words('parts', {
  close: 'Close',
  cancel: 'Cancel',
  done: 'Done',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'Your browser did not allow to copy it. Select it, and copy it by keyboard.',
  copyOf: (what: string) => `Copy ${what}`,
  more: 'Show more',
  loading: 'Loading…',
  tryAgain: 'Try again',
  requestId: (id: string) => `Request ${id}`,
  failed: 'This could not be loaded',
  justNow: 'now',
  typeName: (name: string) => `Type ${name} to confirm`,
  icon: 'Icon',
  addLabel: 'Add label',
  newLabel: 'Label',
  /** By type, in the order in which they can happen to a message. */
  events: {
    'message.received': 'A message arrived',
    'message.refused': 'A message was refused',
    'message.held': 'A message waits for approval',
    'message.sent': 'A message was sent',
    'message.failed': 'A message could not be sent',
    'message.reported': 'A message was reported as spam',
    'question.answered': 'A question was answered, or has expired',
  },
})
