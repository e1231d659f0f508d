import { z } from 'zod'
import { AppError } from '../../core/errors.ts'
import { recipient, secretName } from '../../core/rules.ts'
import { takeCode } from '../../message/index.ts'
import { atMostOnce, callKey } from '../call/once.ts'
import { compact, TAKES, type ToolCall, tool } from '../call/tool.ts'
import { type Fence, isPlain } from '../outside-text/fence.ts'

/** Time that a call waits for a code: some clients end a call after 60 seconds. @limit MCP */
const MAX_SECONDS = 45
const DEFAULT_SECONDS = 30

/** Codes are of these characters alone, so that they contain no words to a model. */
const CODE = /^[A-Z0-9-]{4,20}$/i

/** An ordinary domain as it is; any other could contain a sentence. */
const domainOf = (domain: string, fence: Fence): string =>
  isPlain(`at@${domain}`) ? domain : fence.wrap(domain)

type Asked = {
  from?: string | undefined
  kind?: 'code' | 'link' | undefined
  as?: string | undefined
  seconds: number
}

const take = async ({ viewer, agentId, fence, gone }: ToolCall, deps: ToolCall['deps'], asked: Asked) => {
  const { value, kind, purpose, domain, messageId, from, at, tracker } = await takeCode(
    deps,
    viewer,
    agentId,
    asked,
    {
      via: 'mcp',
      gone,
      bytes: 0,
    },
  )
  // Also a code that needs no fence was written outside.
  fence.note(false)
  return compact({
    fence: fence.id,
    value: value === undefined || CODE.test(value) ? value : fence.wrap(value),
    ...{ secret: asked.as, kind, purpose, domain: domain && domainOf(domain, fence), tracker },
    ...{ messageId, from: fence.address(from), at: at.toISOString() },
  })
}

export const waitForCode = tool({
  name: 'wait_for_code',
  title: 'Wait for a code',
  description: 'Take the newest sign-in code or link that was sent to you, or wait for one.',
  hints: TAKES,
  scope: 'messages:read',
  input: {
    from: recipient.optional().describe('Address or domain. Finds refused mail too.'),
    kind: z.enum(['code', 'link']).optional(),
    seconds: z.int().min(0).max(MAX_SECONDS).optional().describe(`Default: ${DEFAULT_SECONDS}.`),
    as: secretName.optional().describe('Secret to put it in, unseen by you, for 10 minutes.'),
    key: callKey,
  },
  run: async (call, { key, seconds = DEFAULT_SECONDS, ...asked }) => {
    const { viewer, waits } = call
    const leave = waits.take(viewer.tokenId)
    if (!leave)
      throw new AppError('rate_limited', `A token can have ${waits.max} waiting calls at a time.`, {
        retryAfter: 5,
      })
    const given = { ...asked, seconds }
    try {
      return await atMostOnce(call, {
        ...{ name: 'wait_for_code', asked: { key, ...given } },
        work: (within) => take(call, within, given),
      })
    } finally {
      leave()
    }
  },
})
