import { findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Agent } from '../db/generated/prisma/client.ts'
import type { AnswerWay } from '../db/generated/prisma/enums.ts'
import type { LoggedEvent } from '../event/index.ts'
import { ensureNoLeak, type LeakDeps, recordingLeaks } from '../secret/index.ts'
import { audit, type Decider, ensureMember, holdMember, nameOf, type Viewer } from '../workspace/index.ts'
import { announceEnd, type EndDeps, endQuestion } from './end.ts'
import {
  findQuestion,
  isOpen,
  mayAnswer,
  type Question,
  type QuestionRef,
  type QuestionRow,
  questionOf,
} from './question.ts'

export interface AnswerDeps extends EndDeps, LeakDeps {
  clock: Clock
}

/** What became of a question that is not open any more, in words. */
const outcomeOf = ({ status, answeredBy, answerText }: QuestionRow): string => {
  if (status === 'answered') return `${answeredBy} answered “${answerText}”`
  return status === 'withdrawn' ? 'the agent withdrew it' : 'its time is over'
}

const ended = (row: QuestionRow) =>
  new AppError('conflict', `This question cannot be answered any more: ${outcomeOf(row)}.`)

const letters = (text: string): string => text.normalize('NFC').trim().toLowerCase()

/** Whether the options have numbers: in a text, which says them, a `2` is the second option, even if another one is called so. */
type Numbered = 'first' | 'also' | 'no'

/**
 * Returns the option that is meant by its text or, in a chat, by its number from 1, which buttons send as `#1`; the text of an answer
 * in words as it is.
 */
const chosen = ({ options }: Pick<QuestionRow, 'options'>, text: string, byNumber: Numbered): string => {
  if (options.length === 0) {
    if (text.trim() === '') throw invalidInput('text', 'must not be blank')
    return text
  }
  const named = options.find((option) => letters(option) === letters(text))
  const [, button, number = 0] = /^\s*(#?)(\d)[.)\s]*$/.exec(text) ?? []
  const numbered = byNumber === 'no' ? undefined : options[Number(number) - 1]
  const option = byNumber === 'first' || button ? (numbered ?? named) : (named ?? numbered)
  if (option === undefined) throw invalidInput('text', `must be one of: ${options.join(', ')}`)
  return option
}

/** Otherwise, somebody with a mailed link or a forged phone number could instruct the agent. */
const PROVEN: readonly AnswerWay[] = ['app', 'api', 'telegram']

const senderOf = (member: Decider) => ({
  ...{ kind: 'member' as const, id: member.id, name: member.name, email: member.email, phone: null },
})

interface Given {
  text: string
  through: AnswerWay
}

/** Ends the question with the answer, if it is still open and the member still is one. */
const store = (
  deps: AnswerDeps,
  member: Decider,
  { id: agentId, instructors }: Agent,
  { questionId, text, through }: Given & { questionId: string },
): Promise<LoggedEvent[]> =>
  deps.prisma.$transaction(async (tx) => {
    await holdMember(tx, member.id)
    const now = deps.clock.now()
    const events = await endQuestion(tx, {
      ...{ questionId, agentId, now, sender: senderOf(member) },
      answer: { text, by: nameOf(member), at: now, through, memberId: member.id },
      mayInstruct: instructors !== 'none' && PROVEN.includes(through),
    })
    if (events.length === 0) throw ended(await findQuestion(tx, { agentId, questionId }))
    await audit({ ...deps, prisma: tx }, member, {
      ...{ action: 'question.answer', agentId, detail: { question: questionId, through } },
    })
    return events
  })

/**
 * Answers a question. For members, and if it names some, for those alone. The first answer counts, in whatever process; later ones
 * throw `conflict`, which says what became of the question. Throws `forbidden` when the answer contains values of the agent's
 * secrets, and `invalid_input` for what is none of its options.
 */
export const answerQuestion = async (
  deps: AnswerDeps,
  member: Decider,
  { agentId, questionId }: QuestionRef,
  { text: given, through, byNumber }: Given & { byNumber?: Numbered },
): Promise<Question> => {
  const agent = await findAgent(deps, member, agentId)
  const question = await findQuestion(deps.prisma, { agentId, questionId })
  ensureMember(member, 'answer questions of agents')
  if (!mayAnswer(question, member.id))
    throw new AppError('forbidden', 'This question was put to other members.')
  if (!isOpen(question, deps.clock.now())) throw ended(question)
  const text = chosen(question, given, byNumber ?? 'no')
  await recordingLeaks(deps, member, agentId, () =>
    ensureNoLeak(deps, agentId, () => [{ name: 'text', text }], { approved: true }),
  )
  const events = await store(deps, member, agent, { questionId, text, through })
  announceEnd(deps, agentId, events)
  return questionOf(await findQuestion(deps.prisma, { agentId, questionId }), deps.clock.now())
}

/** Withdraws a question: it cannot be answered any more. Throws `conflict` when it has ended. */
export const withdrawQuestion = async (
  deps: EndDeps & { clock: Clock },
  viewer: Viewer,
  { agentId, questionId: id }: QuestionRef,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  await deps.prisma.$transaction(async (tx) => {
    const open = { id, agentId, status: 'open', expiresAt: { gt: deps.clock.now() } } as const
    const { count } = await tx.question.updateMany({ where: open, data: { status: 'withdrawn' } })
    if (count === 0) {
      const { status } = questionOf(await findQuestion(tx, { agentId, questionId: id }), deps.clock.now())
      throw new AppError('conflict', `This question has ended: it is ${status}.`)
    }
    await audit({ ...deps, prisma: tx }, viewer, {
      ...{ action: 'question.withdraw', agentId, detail: { question: id } },
    })
  })
  announceEnd(deps, agentId)
}
