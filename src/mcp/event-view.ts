import type { LoggedEvent } from '../event/event.ts'
import type { Fence } from './fence.ts'
import { compact } from './tool.ts'

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
    senderName: fence.wrapped(sender.name),
    subject: fence.wrapped(subject),
    text: fence.wrapped(text ?? null),
  })
