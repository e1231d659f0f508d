import { plain } from '../core/text/plain.ts'

/** What a moment may be, with what its subject and its detail are. `now` is what is so when it is asked. */
export const MOMENTS = {
  received: 'A message was received.',
  refused: 'A message was refused; detail: the reason.',
  imported: 'A message was imported.',
  accepted: 'A message was accepted for sending; subject: who sent it.',
  held: 'A message waits before it is sent; detail: the reason.',
  held_until: 'When a message that waits is sent.',
  status: 'Now: the status of a message, in detail.',
  check: 'A check of a received message; subject: its name, detail: the verdict.',
  recipient: 'What became of a recipient; subject: the address, detail: the status.',
  event: 'An event was raised; subject: its number, detail: its type.',
  event_delayed: 'When an event is raised that waits for others of its thread.',
  webhook_answered: 'A webhook was called; subject: its name, detail: the answer.',
  webhook_delivery: 'Now: whether an event was delivered to a webhook, in detail; subject: its name.',
  webhook_skips: 'Now: a webhook does not ask for events of this type; subject: its name.',
  webhook_passed: 'Now: a webhook is done with the event; subject: its name.',
  webhook_paused: 'A webhook was paused, and is; subject: its name.',
  webhook_failing: 'A webhook began to fail, and does; subject: its name, detail: the event that it is at.',
  webhook_next: 'When a webhook is called again; subject: its name.',
  webhook_waits: 'Now: an event waits to be delivered to a webhook; subject: its name.',
  stream_began: 'A client began to listen, and does; subject: the client.',
  stream_ended: 'A client stopped listening; subject: the client.',
  wait_ended: 'A call that waits for messages returned an event; detail: its number.',
  listening: 'Since when somebody listens to the agent.',
  not_listening: 'Since when nobody listens to the agent.',
  audit: 'An entry of the audit log; subject: the action, detail: who did it, and with what.',
  address_created: 'An address was created.',
  admits: 'Now: whom an address admits, in detail.',
  senders: 'Now: how many senders an address lists, in detail.',
  blocked: 'Now: how many senders an address blocks, in detail.',
  token: 'The token that was used; subject: its name, detail: its id.',
  token_created: 'A token was created.',
  token_used: 'A token was used last.',
} as const
export type MomentKind = keyof typeof MOMENTS

/** Something that happened, or is so. */
export interface Moment {
  at: Date
  /** `log`: a line of a log, on the command line only. */
  kind: MomentKind | 'log'
  subject?: string
  detail?: string
}

/** What a trace may be about, with what its subject and its owner are. */
export const SUBJECTS = {
  incoming: 'A received message; subject: who sent it, owner: the agent.',
  outgoing: 'A message to somebody; subject: to whom, owner: the agent.',
  address: 'An address; owner: its agent.',
  former_address: 'An address that was an agent’s and is nobody’s now.',
  token: 'A token; subject: its name or id, owner: whose it is.',
  request: 'A request; subject: its id, owner: who made it.',
} as const

/** What happened to one thing, in order. */
export interface Trace {
  kind: keyof typeof SUBJECTS | 'log'
  subject: string
  owner: string | null
  agentId: string | null
  threadId: string | null
  /** The same in words, with all that names it. */
  about: string
  moments: Moment[]
}

/** Characters of a text from outside that are shown. */
const MOST = 300

/** So that what a stranger has written at length hides nothing that follows. */
export const brief = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST)}…` : text)

const short = (text: string): string => plain(brief(text))

/** In order, and plain. */
export const settled = (trace: Trace): Trace => ({
  ...trace,
  subject: short(trace.subject),
  owner: trace.owner && short(trace.owner),
  about: plain(trace.about),
  moments: trace.moments
    .map(({ subject, detail, ...moment }) => ({
      ...moment,
      ...(subject ? { subject: short(subject) } : {}),
      // Each value of a line of a log is brief already.
      ...(detail ? { detail: moment.kind === 'log' ? plain(detail) : short(detail) } : {}),
    }))
    .sort((one, other) => one.at.getTime() - other.at.getTime()),
})

const lineOf = ({ at, kind, subject, detail }: Moment, now: Date): string =>
  `  ${at.getTime() === now.getTime() ? 'now'.padEnd(24) : at.toISOString()}  ${kind.replaceAll('_', ' ')}${subject ? ` ${subject}` : ''}${detail ? `: ${detail}` : ''}`

/** For a terminal. What is so `now`, when it is asked, has no time. */
export const asText = (traces: readonly Trace[], now: Date): string =>
  traces
    .flatMap(({ about, moments }) => [about, ...moments.map((moment) => lineOf(moment, now)), ''])
    .join('\n')
    .trimEnd()
