import type { InputShapeFromFields } from '@pothos/core'
import { label, recipient, searchedSubject, searchText } from '../../core/rules.ts'
import type { MessageFilter } from '../../message/reading/filter.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { AddressChannel, Direction, HoldReason, MessageStatus, Refusal } from './enums.ts'

/** Arguments that filter a list of messages. */
export const FILTER_ARGS = builder.args((t) => ({
  channel: t.field({ type: AddressChannel, description: 'Only entries on this channel.' }),
  direction: t.field({ type: Direction, description: 'Only messages in this direction.' }),
  status: t.field({ type: MessageStatus, description: 'Only messages with this status.' }),
  thread: t.field({
    type: 'UUID',
    description: 'Only messages in the same thread as the message with this id.',
  }),
  q: t.string({
    description:
      'Full-text search in subject, text and counterpart, 1 to 500 characters and at most 128 words. Supports "a phrase", or, -without, and `begin*` for words that begin so (at least 2 characters).',
  }),
  label: t.string({ description: 'Only messages with this label.' }),
  unread: t.boolean({
    description: 'true: only received messages that are not marked as read; false: all others.',
  }),
  refusal: t.field({ type: Refusal, description: 'Only messages that were refused for this reason.' }),
  hasAttachment: t.boolean({
    description: 'true: only messages with attachments; false: only messages without.',
  }),
  from: t.string({
    description:
      'Only inbound messages from this email address, phone number or Telegram user id; *@example.com stands for a domain. Any other text is words of the name or address, or parts of them: Björn.',
  }),
  to: t.string({
    description:
      "Only messages to or in copy to this address or domain, or to words of a recipient's address or known name, as in `from`.",
  }),
  subject: t.string({
    description:
      'Only messages whose subject contains each of these words or parts of words: 1 to 240 characters.',
  }),
  hold: t.field({
    type: HoldReason,
    description: 'Only outgoing messages that wait for this: approval, or the time to send them.',
  }),
  since: t.field({ type: 'DateTime', description: 'Only messages created at or after this time.' }),
  until: t.field({ type: 'DateTime', description: 'Only messages created up to this time.' }),
}))

/** Checks the arguments. Throws `invalid_input` with REST's message. */
export const filterOf = (args: InputShapeFromFields<typeof FILTER_ARGS>): MessageFilter => {
  const { channel, direction, status, thread, unread, refusal, hasAttachment, hold, since, until } = args
  return {
    ...checked({ q: searchText, label, from: recipient, to: recipient, subject: searchedSubject }, args),
    channel: given(channel),
    direction: given(direction),
    status: given(status),
    thread: given(thread),
    unread: given(unread),
    refusal: given(refusal),
    hasAttachment: given(hasAttachment),
    hold: given(hold),
    since: given(since),
    until: given(until),
  }
}
