import type { LoggedEvent } from '../event/event.ts'
import type { Fence } from './fence.ts'
import { compact } from './tool.ts'

const MAX_LINE = 300

/** An event for a model. It includes the text of a Message URL message, of which no copy is kept. */
export const eventView = (
  { type, messageId, channel, createdAt, sender, subject, text }: LoggedEvent,
  fence: Fence,
) =>
  compact({
    type,
    messageId: channel === 'url' ? null : messageId,
    at: createdAt.toISOString(),
    channel,
    senderIs: sender.kind,
    senderId: sender.id,
    from: fence.wrapped(sender.email ?? sender.phone ?? '') && fence.address((sender.email ?? sender.phone)!),
    senderName: fence.wrapped(sender.name, MAX_LINE),
    subject: fence.wrapped(subject, MAX_LINE),
    text: fence.wrapped(text ?? null),
  })
