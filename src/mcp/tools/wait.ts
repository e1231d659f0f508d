import { z } from 'zod'
import { findAgent } from '../../agent/permission.ts'
import type { LoggedEvent } from '../../event/event.ts'
import { readHead } from '../../event/log.ts'
import { eventView } from '../event-view.ts'
import { readPosition } from '../position.ts'
import { READS_OUTSIDE, type ToolCall, tool } from '../tool.ts'
import { watchLog } from '../watch.ts'

/** Some clients end a call after 60 seconds. */
const MAX_SECONDS = 45
const DEFAULT_SECONDS = 30

/** An event with what is known of its message now; the messages are read in one round trip. */
const viewOf = async ({ deps, agentId, fence }: ToolCall, event: LoggedEvent) => {
  const { messageId, channel } = event
  const found = channel === 'url' ? null : await deps.reads.add({ agentId, messageId })
  const mayInstruct = channel === 'url' ? event.mayInstruct === true : (found?.may_instruct ?? false)
  return eventView(event, { admission: found?.admission ?? null, mayInstruct }, fence)
}

export const wait = tool({
  name: 'wait_for_messages',
  title: 'Wait for messages',
  description: 'Wait until a message arrives or the time is up.',
  hints: READS_OUTSIDE,
  input: {
    cursor: z
      .string()
      .max(20)
      .optional()
      .describe('cursor of the previous result, so that you miss nothing. Default: now.'),
    seconds: z.int().min(1).max(MAX_SECONDS).optional().describe(`Default: ${DEFAULT_SECONDS}.`),
  },
  run: async (call, { cursor, seconds = DEFAULT_SECONDS }) => {
    const { deps, viewer, agentId, fence } = call
    await findAgent(deps, viewer, agentId)
    const head = await readHead(deps, agentId)
    const after = cursor === undefined ? head.lastId : readPosition(cursor, head)
    const found = await watchLog(call, { agentId, after, ms: seconds * 1000 })
    return {
      fence: fence.id,
      events: await Promise.all(found.events.map((event) => viewOf(call, event))),
      cursor: String(found.position),
      ...(found.truncated ? { truncated: true } : {}),
    }
  },
})
