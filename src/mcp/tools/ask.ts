import { z } from 'zod'
import { AppError, invalidInput } from '../../core/errors.ts'
import { questionOption, questionText, uuid } from '../../core/rules.ts'
import { askQuestion, type Question, readQuestion } from '../../question/index.ts'
import { atMostOnce, callKey } from '../call/once.ts'
import { compact, SENDS, type ToolCall, tool } from '../call/tool.ts'

/** Time that a call waits for an answer: some clients end a call after 60 seconds. @limit MCP */
const MAX_SECONDS = 45

const NEXT = {
  open: 'Nobody has answered yet. Go on with other work, and call ask_member with this questionId to look again.',
  expired: 'Nobody answered in time. Do not assume an answer.',
  withdrawn: 'The question was withdrawn. Do not assume an answer.',
  answered: null,
}

/** Who has a mailed link or forges a number could answer in a member's name; only other ways prove who did. */
const PROVEN: readonly string[] = ['app', 'api', 'telegram']

const view = ({ id, status, answer, expiresAt }: Question, { fence }: ToolCall) => {
  if (answer) fence.note(PROVEN.includes(answer.through))
  return compact({
    ...{ questionId: id, status },
    fence: answer && fence.id,
    answer: answer && fence.wrap(answer.text),
    by: answer && fence.wrap(answer.by, 100),
    through: answer?.through,
    expiresAt: status === 'open' ? expiresAt.toISOString() : null,
    next: NEXT[status],
  })
}

type Asked = {
  text?: string | undefined
  options?: string[] | undefined
  to?: string[] | undefined
  expiresIn?: number | undefined
}

const questionIdOf = async (call: ToolCall, given: Asked, key: string | undefined): Promise<string> => {
  const { text, ...rest } = given
  if (text === undefined)
    throw invalidInput('text', 'is missing: give a text, or the questionId of one asked before')
  const { id } = (await atMostOnce(call, {
    ...{ name: 'ask_member', asked: { key, ...given } },
    work: async (within) => {
      const { id } = await askQuestion(within, call.viewer, call.agentId, { text, ...rest })
      return { id }
    },
  })) as { id: string }
  return id
}

/** Waits for an answer, beside the other calls of the token that wait. */
const awaitAnswer = async (call: ToolCall, questionId: string, seconds: number): Promise<Question> => {
  const { deps, viewer, agentId, gone, waits } = call
  const leave = waits.take(viewer.tokenId)
  if (!leave)
    throw new AppError('rate_limited', `A token can have ${waits.max} waiting calls at a time.`, {
      retryAfter: 5,
    })
  try {
    return await readQuestion(deps, viewer, { agentId, questionId, seconds }, { via: 'mcp', gone, bytes: 0 })
  } finally {
    leave()
  }
}

export const askMember = tool({
  name: 'ask_member',
  scope: ['messages:write', 'messages:read'],
  title: 'Ask a member',
  description: 'Ask the people you work for, and wait for the answer.',
  hints: SENDS,
  input: {
    text: questionText.optional(),
    options: z.array(questionOption).min(2).max(6).optional(),
    to: z.array(uuid).max(50).optional().describe('Member ids.'),
    expiresIn: z.int().min(60).max(604_800).optional().describe('Seconds. Default: a day.'),
    questionId: uuid.optional().describe('Looks again.'),
    seconds: z.int().min(0).max(MAX_SECONDS).optional().describe(`Default: ${MAX_SECONDS}.`),
    key: callKey,
  },
  run: async (call, { key, questionId, seconds = MAX_SECONDS, ...asked }) => {
    if (questionId !== undefined && asked.text !== undefined)
      throw invalidInput('questionId', 'is for a question asked before: leave text out')
    const id = questionId ?? (await questionIdOf(call, asked, key))
    return view(await awaitAnswer(call, id, seconds), call)
  },
})
