import type { ResultOf } from '../live/graphql.ts'
import type { MESSAGE } from './message-fields.ts'

type Shown = ResultOf<typeof MESSAGE>

/** The words of a thread. */
export const text = {
  back: 'Back to the list',
  gone: 'There is no such thread',
  noSubject: '(no subject)',
  earlier: 'Show earlier messages',
  to: (names: string) => `to ${names}`,
  cc: (names: string) => `cc ${names}`,
  agentWrote: (agent: string) => agent,
  quoted: 'Show what it quotes',
  hideQuoted: 'Hide what it quotes',
  attachments: 'Attachments',
  size: (bytes: number) =>
    bytes < 1024
      ? `${bytes} B`
      : bytes < 1024 ** 2
        ? `${Math.ceil(bytes / 1024)} KB`
        : `${(bytes / 1024 ** 2).toFixed(1)} MB`,
  why: 'Why',
  whyTitle: 'What was checked',
  delivery: 'Delivery',
  read: 'Mark as read',
  unread: 'Mark as unread',
  answer: 'Answer',
  answerTo: (who: string) => `Answer to ${who}`,
  answerAs: (agent: string) => `Written as ${agent}. It goes out from the agent’s address.`,
  send: 'Send',
  sent: 'The answer is on its way.',
  held: 'The answer waits for approval.',
  keys: { answer: 'Answer', read: 'Mark as read', unread: 'Mark as unread' },
  status: {
    received: 'Received',
    refused: 'Refused',
    sending: 'Sending',
    sent: 'Sent',
    failed: 'Failed',
    imported: 'Imported',
    reported: 'Marked as spam',
  } satisfies Record<Shown['status'], string>,
  refusal: {
    self: 'The agent had sent it itself.',
    spam: 'It was classified as spam.',
    plan_limit: 'The plan’s limit was reached.',
    rate_limit: 'Too many messages arrived in a short time.',
    sender: 'The sender is not among those who may write to this agent.',
    outsider: 'Only the team may write to this agent, and the sender is not part of it.',
    unverified: 'Nothing proved that the sender is who they say they are.',
  } satisfies Record<NonNullable<Shown['refusal']>, string>,
  admission: {
    team: 'The sender is a member or an agent of the workspace.',
    listed: 'The sender is on the list of this channel.',
    anyone: 'Anyone may write to this agent on this channel.',
  } satisfies Record<NonNullable<Shown['admission']>, string>,
  recipient: { sending: 'On its way', sent: 'Accepted', failed: 'Failed' },
}
