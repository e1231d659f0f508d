import { z } from 'zod'
import { awaitEvents, beginWaiting, endWaiting, findAgent } from '../../agent/index.ts'
import { AppError } from '../../core/errors.ts'
import { HEARD_BY_DEFAULT, type LoggedEvent, readHead } from '../../event/index.ts'
import { readPosition } from '../call/position.ts'
import { READS_OUTSIDE, type ToolCall, tool } from '../call/tool.ts'
import { eventView } from '../view/event.ts'

/** Time that a call waits for messages: some clients end a call after 60 seconds. @limit MCP */
const MAX_SECONDS = 45
const DEFAULT_SECONDS = 30

/** An event with what is known of its message now; the messages are read in one round trip. */
const viewOf = async ({ deps, agentId, fence }: ToolCall, event: LoggedEvent) => {
  const { messageId, channel } = event
  const found = channel === 'url' ? null : await deps.reads.add(deps, { agentId, messageId })
  const mayInstruct = channel === 'url' ? event.mayInstruct === true : (found?.mayInstruct ?? false)
  return eventView(event, { admission: found?.admission ?? null, mayInstruct }, fence)
}

/**
 * Waits for messages after a position, or where the token's last call ended. An agent's own token makes it a listener
 * of the Message URL meanwhile.
 */
const waitAfter = async (
  { deps, viewer, agentId, waits, gone }: ToolCall,
  { given, head, ms }: { given: number | null; head: number; ms: number },
) => {
  const { tokenId, kind } = viewer
  const leave = waits.take(tokenId)
  if (!leave)
    throw new AppError('rate_limited', `A token can have ${waits.max} waiting calls at a time.`, {
      retryAfter: 5,
    })
  try {
    const left = gone()
    const waiter = { agentId, tokenId }
    const at = deps.clock.now()
    const until = kind === 'agent' ? new Date(at.getTime() + ms) : null
    const last = await beginWaiting(deps, waiter, { head: given ?? head, until, at })
    let position: number | null = null
    try {
      const awaited = { via: 'mcp', agentId, after: given ?? last, types: HEARD_BY_DEFAULT } as const
      const found = await awaitEvents(deps, viewer, awaited, { ms, gone: left })
      if (!left.aborted) position = found.position
      return found
    } finally {
      await endWaiting(deps, waiter, { position, chosen: given !== null, until, at: deps.clock.now() })
    }
  } finally {
    leave()
  }
}

export const wait = tool({
  name: 'wait_for_messages',
  title: 'Wait for messages',
  description: 'Wait until a message arrives or the time is up.',
  hints: READS_OUTSIDE,
  scope: 'events',
  input: {
    cursor: z
      .string()
      .max(20)
      .optional()
      .describe('cursor of an earlier result. Default: where your last call ended.'),
    seconds: z.int().min(1).max(MAX_SECONDS).optional().describe(`Default: ${DEFAULT_SECONDS}.`),
  },
  run: async (call, { cursor, seconds = DEFAULT_SECONDS }) => {
    const { deps, viewer, agentId, fence } = call
    await findAgent(deps, viewer, agentId)
    const head = await readHead(deps, agentId)
    const given = cursor === undefined ? null : readPosition(cursor, head)
    const found = await waitAfter(call, { given, head: head.lastId, ms: seconds * 1000 })
    return {
      fence: fence.id,
      events: await Promise.all(found.events.map((event) => viewOf(call, event))),
      cursor: String(found.position),
      ...(found.truncated ? { truncated: true } : {}),
    }
  },
})
