import type { Admission } from '../../db/generated/prisma/enums.ts'
import type { LoggedEvent } from '../../event/index.ts'
import { compact } from '../call/tool.ts'
import type { Fence } from '../outside-text/fence.ts'

const MAX_LINE = 300

/** Only the team writes to a Message URL; what else has no admission is no longer stored. */
const senderIs = ({ channel }: LoggedEvent, admission: Admission | null): Admission =>
  admission ?? (channel === 'url' ? 'team' : 'anyone')

/**
 * An event for a model, with what is known of its message now. It includes the text of a Message URL message, of which no
 * copy is kept.
 */
export const eventView = (
  event: LoggedEvent,
  { admission, mayInstruct }: { admission: Admission | null; mayInstruct: boolean },
  fence: Fence,
) => {
  const { type, messageId, channel, createdAt, sender, subject, text } = event
  fence.note(senderIs(event, admission) === 'team')
  const shown = compact({
    type,
    messageId: channel === 'url' ? null : messageId,
    at: createdAt.toISOString(),
    channel,
    senderIs: senderIs(event, admission),
    senderId: sender.id,
    from: fence.wrapped(sender.email ?? sender.phone ?? '') && fence.address((sender.email ?? sender.phone)!),
    senderName: fence.wrapped(sender.name, MAX_LINE),
    subject: fence.wrapped(subject, MAX_LINE),
    text: fence.wrapped(text ?? null),
  })
  return { ...shown, mayInstruct }
}
