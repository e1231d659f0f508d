import { words } from '../parts/words.ts'

/** The words of the screens with what agents send, and to whom they no longer send. */
export const text = words('outbox', {
  title: 'Outbox',
  tabs: 'Screens of the outbox',
  messages: 'Messages',
  suppressed: 'Suppression lists',
  captured:
    'No mail server for sending is configured: email is stored in DATA_DIR/outbox and shown here, but not sent. Set SMTP_RELAY_URL to send it.',
  filter: 'Which messages',
  filters: { all: 'All', sending: 'Queued', sent: 'Sent', failed: 'Failed', reported: 'Reported as spam' },
  list: 'Messages that agents send',
  columns: { message: 'Message', agent: 'Agent', status: 'Status', at: 'When' },
  to: (recipients: string) => `To ${recipients}`,
  noSubject: '(no subject)',
  status: {
    failed: 'Failed',
    reported: 'Reported as spam',
    sending: 'Queued',
    sent: 'Sent',
    captured: 'Captured',
    approval: 'Waits for approval',
    schedule: 'Scheduled',
  },
  some: (accepted: number, all: number) => `${accepted} of ${all} sent`,
  none: 'Nothing has been sent',
  noneHint: 'What you and your agents send appears here, with its status.',
  noneSuch: 'No such messages',
  noneSuchHint: 'Choose All to see everything that was sent.',
  write: 'Write a message',
  suppressedIntro:
    'Agents do not send to these recipients, because mail to them bounced permanently or they reported it as spam.',
  suppressedOf: (agent: string) => `Suppression list of ${agent}`,
  suppressedColumns: { recipient: 'Recipient', reason: 'Reason', since: 'Since', remove: 'Remove' },
  reasons: { bounce: 'Bounced', complaint: 'Reported as spam' },
  noneSuppressed: 'No suppressed recipients',
  noneSuppressedHint:
    'When mail to a recipient bounces permanently or is reported as spam, the agent stops sending to them and they are listed here.',
  remove: 'Remove',
  removeOf: (recipient: string) => `Remove ${recipient}`,
  removeTitle: (recipient: string) => `Send to ${recipient} again?`,
  removeHint: 'The agent can then send to them. If mail bounces again, they return to the list.',
  removed: (recipient: string) => `${recipient} was removed from the list.`,
})
