import type { Message } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/index.ts'

/** Who writes a message: a member, or the agent itself, which has no `memberId`. */
export interface Writer {
  memberId: string | null
  name: string
}

/** The agent itself or the member who wrote something, with the name that they had then. */
export interface Author {
  kind: 'agent' | 'member'
  id: string
  name: string
}

/** Returns the viewer as the writer of what they write for an agent. A member without a name is named by the email address. */
export const writerOf = ({ kind, id, name, email }: Viewer): Writer => ({
  memberId: kind === 'member' ? id : null,
  name: name ?? email ?? id,
})

/** Returns who wrote something of the agent; null when that was not recorded. */
export const authorOf = (
  agentId: string,
  { memberId, name }: { memberId: string | null; name: string | null },
): Author | null => {
  if (name === null) return null
  return memberId === null ? { kind: 'agent', id: agentId, name } : { kind: 'member', id: memberId, name }
}

/** Returns who sent a message; null for one that nobody of the workspace sent, or before that was recorded. */
export const sentByOf = ({
  agentId,
  sentByMemberId,
  sentByName,
}: Pick<Message, 'agentId' | 'sentByMemberId' | 'sentByName'>): Author | null =>
  authorOf(agentId, { memberId: sentByMemberId, name: sentByName })
