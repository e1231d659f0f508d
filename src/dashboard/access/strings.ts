import { words } from '../parts/words.ts'

/** The words of the screen that says who may write to an agent. */
export const text = words('access', {
  intro:
    'Messages from anyone else are refused and stored with the reason; you can let them in later. Members, agents and listed senders are recognized only if the message proves who sent it.',
  url: 'Message URL',
  notSetUp: 'The agent has no address on this channel yet. The rules apply once it has one.',
  urlHint: 'Only members and agents of the workspace can write there.',
  admit: 'Who may write',
  admits: {
    list: 'Only listed senders',
    team: 'The team and listed senders',
    anyone: 'Anyone',
  },
  admitHints: {
    list: '',
    team: 'Members and agents of the workspace.',
    anyone: 'Everybody who is not blocked, whoever they are.',
  },
  listed: 'Listed senders',
  blocked: 'Blocked senders',
  noneListed: 'Nobody is listed.',
  noneBlocked: 'Nobody is blocked.',
  addListed: 'Add to the list',
  addBlocked: 'Block a sender',
  add: 'Add',
  block: 'Block',
  remove: (entry: string) => `Remove ${entry}`,
  removed: (entry: string) => `${entry} was removed.`,
  undo: 'Undo',
  choose: 'Choose…',
  notAllowed: 'You may not change this.',
})
