import { type ChatDeps, readReplyOf, SIGN_IN_FIRST } from '../agent/index.ts'
import type { AnswerClaim } from '../core/channel/inbound.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { answerText } from '../core/rules.ts'
import { quoted } from '../core/text/quoted.ts'
import { deciderOf } from '../workspace/index.ts'
import { type AnswerDeps, answerQuestion } from './answer.ts'
import type { QuestionRow } from './question.ts'

type ReplyDeps = AnswerDeps & ChatDeps

/** How many of the agent's questions a reply may be to: all that are open, and the newest of the others. */
const MAX_LOOKED_AT = 1_000

/** The reply in the chat: internal errors are not shown. */
const TOLD: readonly string[] = ['conflict', 'invalid_input', 'forbidden', 'rate_limited', 'unauthorized']

const failureOf = (error: unknown): string => {
  if (!(error instanceof AppError) || !TOLD.includes(error.code)) throw error
  return error.message.replace(/^text: /, 'Your answer ')
}

/** As all other ways to answer check it. */
const checked = (text: string): string => {
  const { data, error } = answerText.safeParse(text)
  if (data === undefined) throw invalidInput('text', error?.issues[0]?.message ?? 'is not valid')
  return data
}

/**
 * Takes what a member answers in a chat. Resolves with the reply, or null when it is no answer to a question. Who sent it is proven
 * by Telegram; a number may be forged, so a text counts only with the code that was sent to the number of the member.
 */
export const answerInChat = async (deps: ReplyDeps, claim: AnswerClaim): Promise<string | null> => {
  const reply = await readReplyOf(deps, claim)
  if (!reply) return null
  const { agentId, member, text } = reply
  const asked: Pick<QuestionRow, 'id'>[] = await deps.prisma.question.findMany({
    where: { agentId },
    select: { id: true },
    // Open ones come first: a reply to one would otherwise reach the agent as a message, with the member's code in it.
    orderBy: [{ status: 'asc' }, { createdAt: 'desc' }, { id: 'desc' }],
    take: MAX_LOOKED_AT,
  })
  const question = asked.find(({ id }) => reply.isTo(id))
  if (!question) return null
  if (reply.needsSignIn) return SIGN_IN_FIRST
  const isSms = claim.channel === 'sms'
  const how = { through: isSms ? 'sms' : 'telegram', byNumber: isSms ? 'first' : 'also' } as const
  try {
    const ref = { agentId, questionId: question.id }
    const { answer } = await answerQuestion(deps, deciderOf(member), ref, { text: checked(text), ...how })
    return `Thank you. Your answer: ${quoted(answer?.text ?? text, 200)}.`
  } catch (error) {
    return failureOf(error)
  }
}
