import { z } from 'zod'
import { recipient, secretName, timestamp, uuid } from '../../core/rules.ts'
import { takeCode as take } from '../../message/index.ts'
import { CodeKind, CodePurpose } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { one, operation } from '../operation.ts'
import { id, resource, says, text, time } from '../resource.ts'

/** Time that a request waits for a code: many proxies end a request after 60 seconds. @limit Messages */
const MAX_SECONDS = 60

const FIELDS = {
  kind: says(CodeKind, 'Whether it is a code or a link.'),
  purpose: says(CodePurpose, 'What it is for.'),
  domain: text(
    'The domain that is proven to have sent a code by email, or the host that a link leads to; null for a code whose sender has no proven domain.',
  ).nullable(),
  tracker: text(
    'The service that counts the clicks on a link or checks it, such as SendGrid: the link leads to its host, and from there on. Left out if there is none.',
  ).optional(),
}

export const Code = resource(
  'Code',
  'A code or link in a message, with which somebody proves who they are.',
  {
    fields: {
      value: text('The code, without spaces, and digits without hyphens; or the URL of the link.'),
      ...FIELDS,
    },
    example: { value: '482913', kind: 'code', purpose: 'sign_in', domain: 'example.com' },
  },
)

export const TakenCode = resource('TakenCode', 'A code or link that was given out.', {
  fields: {
    value: text('The code or the URL. Left out if it became a secret.').optional(),
    ...FIELDS,
    messageId: id('The message that contains it.'),
    from: text('Who sent the message.'),
    at: time('When the message was received.'),
  },
  example: {
    ...{ value: '482913', kind: 'code', purpose: 'sign_in', domain: 'example.com' },
    ...{ messageId: ID, from: 'no-reply@example.com', at: TIME },
  },
})

export const takeCode = operation({
  name: 'takeCode',
  says: "Takes the newest code or link of an agent's messages that nobody has taken, or waits for one. Each is given out once, whoever asks; the audit log records to whom. Repeating the request with the same `Idempotency-Key` returns the same one. Waiting makes nobody a listener. `not_found` when there is none.",
  rest: 'POST /agents/{agentId}/codes/take',
  tag: 'Messages',
  scope: 'messages:read',
  input: {
    agentId: says(uuid, 'The agent.'),
    from: says(
      recipient,
      'Only of this sender: an email address, `*@example.com` for a domain, `example.com` for it and all below it, or a phone number, short code or name that sends SMS. Refused messages count too, because those who send codes are on no list.',
    ).optional(),
    kind: says(CodeKind, 'Only a code, or only a link.').optional(),
    purpose: says(CodePurpose, 'Only for this purpose.').optional(),
    since: says(
      timestamp,
      'Only of messages received since then; by default in the last 10 minutes.',
    ).optional(),
    seconds: says(
      z.int().min(0).max(MAX_SECONDS),
      `How long to wait if there is none yet: up to ${MAX_SECONDS} seconds; by default 0.`,
    ).optional(),
    unproven: says(
      z.boolean(),
      'Whether senders that are not proven count too. Anyone can write in their names.',
    ).optional(),
    as: says(
      secretName,
      "Makes the value the agent's secret of this name for 10 minutes, and leaves it out of the response. `conflict` for the name of a secret that does not expire.",
    ).optional(),
  },
  mayBeEmpty: true,
  example: { from: 'github.com', seconds: 30 },
  fails: ['agent', 'missing', 'conflict'],
  output: { ...one(TakenCode, 'The code or link.'), isSecret: true },
  run: (deps, viewer, { agentId, ...wanted }, waiting) => take(deps, viewer, agentId, wanted, waiting!),
})
