import { findAgent } from '../../agent/index.ts'
import { notFound } from '../../core/errors.ts'
import type { Viewer } from '../../workspace/index.ts'
import { listMessages } from '../reading/list.ts'
import type { PresentedMessage } from '../reading/present.ts'
import type { ReadDeps } from '../reading/read.ts'
import { findThread } from '../reading/thread.ts'
import type { ThreadKey } from './state.ts'

/** What a token of most models takes, on average. */
const CHARACTERS_PER_TOKEN = 4
/** Messages that are read. */
const MAX_READ = 100
/** Characters that an entry has besides its text. */
const REST = 150

/** A message of a conversation: who wrote what. */
export interface TranscriptEntry {
  messageId: string
  at: Date
  direction: PresentedMessage['direction']
  status: PresentedMessage['status']
  from: string
  text: string
  isCut: boolean
}

export interface Transcript {
  entries: TranscriptEntry[]
  /** Whether the thread has older messages than these. */
  more: boolean
}

/** Who wrote a message: its sender; or a member, or the agent itself, by the name that they had then. */
const writerOf = (
  { direction, counterpart, counterpartName, sentByName }: PresentedMessage,
  agent: string,
) => {
  if (direction === 'outbound') return sentByName ?? agent
  return counterpartName === null ? counterpart : `${counterpartName} <${counterpart}>`
}

/**
 * Reads the newest messages of a thread that take at most so many tokens together, newest first, without quotations
 * and refused messages. The text of the newest one is cut if it alone takes more.
 */
export const readTranscript = async (
  deps: ReadDeps & Parameters<typeof listMessages>[0],
  viewer: Viewer,
  { agentId, threadId }: ThreadKey,
  tokens: number,
): Promise<Transcript> => {
  const { name } = await findAgent(deps, viewer, agentId)
  const thread = await findThread(deps, threadId, [agentId])
  if (thread?.agentId !== agentId || thread.threadId !== threadId) throw notFound('thread')
  const { items, nextCursor } = await listMessages(deps, viewer, agentId, {
    filter: { threadId },
    limit: MAX_READ,
  })
  const admitted = items.filter(({ status }) => status !== 'refused')
  const entries: TranscriptEntry[] = []
  let room = tokens * CHARACTERS_PER_TOKEN
  for (const message of admitted) {
    const text = message.replyText ?? message.text
    const isCut = entries.length === 0 && text.length + REST > room
    room -= text.length + REST
    if (room < 0 && !isCut) break
    entries.push({
      messageId: message.id,
      at: message.createdAt,
      direction: message.direction,
      status: message.status,
      from: writerOf(message, name),
      text: isCut ? text.slice(0, tokens * CHARACTERS_PER_TOKEN - REST).toWellFormed() : text,
      isCut,
    })
  }
  return { entries, more: nextCursor !== null || entries.length < admitted.length }
}
