import { words } from '../parts/words.ts'

/** The words of the screen with what waits for a member. */
export const text = words('waiting', {
  title: 'Waiting for you',
  tabs: 'What waits for you',
  approval: 'To approve',
  approvalHint:
    'Each agent’s settings say which of its messages wait here. Those that nobody decides on within seven days are rejected.',
  nothingHeld: 'No message is waiting for approval.',
  questions: 'Questions',
  questionsHint:
    'What agents ask members comes here, by mail and, where you have verified an account, to Telegram or your phone. The first answer counts.',
  noQuestion: 'No agent is asking you anything.',
  asks: (agent: string) => `${agent} asks`,
  openUntil: 'Can be answered until',
  answer: 'Answer',
  yourAnswer: 'Your answer',
  youAnswered: 'You answered:',
  over: 'It was answered or withdrawn, or its time is over.',
  keys: {
    next: 'Next',
    previous: 'Previous',
    select: 'Select',
    selectAll: 'Select all',
    approveMany: 'Approve the selected ones',
    rejectMany: 'Reject the selected ones',
  },
  selectAll: 'All',
  choose: (subject: string) => `Choose ${subject}`,
  fromTo: (agent: string, recipients: string) => `${agent} to ${recipients}`,
  approve: 'Approve',
  edit: 'Edit',
  reject: 'Reject',
  approved: 'Approved: it is on its way.',
  rejected: 'Rejected: it is not sent.',
  approveMany: (count: number) => `Approve ${count}`,
  rejectMany: (count: number) => `Reject ${count}`,
  bulkTitle: {
    approve: (count: number) => (count === 1 ? 'Approve this message?' : `Approve these ${count} messages?`),
    reject: (count: number) => (count === 1 ? 'Reject this message?' : `Reject these ${count} messages?`),
  },
  leftOut: (count: number) =>
    count === 1
      ? 'One message with an edit that is not sent yet is left out: approve it by itself.'
      : `${count} messages with edits that are not sent yet are left out: approve them one by one.`,
  decided: {
    approve: (count: number) =>
      count === 1 ? 'One message was approved.' : `${count} messages were approved.`,
    reject: (count: number) =>
      count === 1 ? 'One message was rejected.' : `${count} messages were rejected.`,
  },
  approvedBy: (name: string | null) => (name ? `Approved by ${name}` : 'Approved'),
  rejectedBy: (name: string | null) => (name ? `Rejected by ${name}` : 'Not sent'),
  rules: {
    all: (agent: string) => `Every message of ${agent} needs approval.`,
    strangers: (agent: string) => `Messages of ${agent} to strangers need approval.`,
    none: (agent: string) => `Messages of ${agent} need no approval.`,
  },
  ruleChanged: (agent: string) =>
    `The settings of ${agent} have changed since: a message like this one would now be sent without approval.`,
  toSettings: 'Settings',
  stranger: (address: string, agent: string) =>
    `${address} has never written to ${agent}, is not on its list of senders, and is not in this workspace.`,
  until: 'Rejected automatically on',
  from: 'From',
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
  subject: 'Subject',
  view: 'How it is shown',
  views: { html: 'As sent (HTML)', text: 'Text' },
  before: 'Before in this thread',
  isFirst: 'It is the first message of its thread.',
  wholeThread: (count: number) => `Open the thread (${count})`,
  editTitle: 'Edit, then approve',
  messageText: 'Text',
  sendEdited: 'Approve as edited',
  editOn: 'Go on editing',
  editKept: 'Kept on this device while you write.',
  original: 'Back to the original',
  decidedMeanwhile: 'Somebody else decided meanwhile:',
  decidedBy: (who: string) => `approved by ${who}.`,
  somebody: 'another member',
  gone: 'the message was deleted.',
  wordsStay: 'What you wrote stays here until you close this.',
  copyWords: 'Copy what you wrote',
  rejectTitle: 'Reject this message?',
  reason: 'Reason',
  reasonHint: 'Optional. The agent reads it.',
  noSubject: '(no subject)',
  refused: 'Refused',
  refusedHint:
    'Messages that were not let in. The agents were not notified of them; they are kept for a limited time.',
  nothingRefused: 'No message was refused recently.',
  letIn: 'Let in',
  letInAlways: 'Always let in',
  block: 'Block',
  many: (count: number) => ({
    letIn: `Let in ${count}`,
    letInAlways: `Always let in ${count}`,
    block: `Block ${count}`,
  }),
  letInDone: (count: number) => (count === 1 ? 'The message was let in.' : `${count} messages were let in.`),
  letInOnce:
    'The sender is listed now, but later mail is let in only if it proves that it is theirs, which this mail did not.',
  blocked: (senders: readonly string[]) =>
    `${senders.join(', ')} ${senders.length === 1 ? 'is' : 'are'} blocked.`,
  refusedFor: (agent: string) => `for ${agent}`,
  reasons: {
    self: 'It looks like an automatic reply or a loop.',
    spam: 'It was classified as spam.',
    plan_limit: 'The plan’s limit was reached.',
    rate_limit: 'Too many messages arrived at once.',
    sender: 'The sender is blocked, or not on the list.',
    outsider: 'The sender is neither in the team nor on the list.',
    unverified: 'The sender could not prove who they are.',
  },
})
