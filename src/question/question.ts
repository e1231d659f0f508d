import { type Caller, findAgent } from '../agent/index.ts'
import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import { notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, Question as QuestionRow } from '../db/generated/prisma/client.ts'
import type { AnswerWay, QuestionStatus } from '../db/generated/prisma/enums.ts'

export type { QuestionRow }

/** What names a question. */
export interface QuestionRef {
  agentId: string
  questionId: string
}

/** What a member answered. */
export interface Answer {
  text: string
  /** The name that the member had then, or else the email address. */
  by: string
  at: Date
  through: AnswerWay
}

/** A question as all interfaces show it. */
export interface Question
  extends Pick<QuestionRow, 'id' | 'agentId' | 'text' | 'options' | 'createdAt' | 'expiresAt'> {
  /** The members who may answer; empty for all. */
  to: string[]
  status: QuestionStatus
  answer: Answer | null
}

const answerOf = ({ answerText, answeredBy, answeredAt, answeredThrough }: QuestionRow): Answer | null =>
  answerText !== null && answeredBy !== null && answeredAt && answeredThrough
    ? { text: answerText, by: answeredBy, at: answeredAt, through: answeredThrough }
    : null

/** Whether a question can still be answered. */
export const isOpen = (
  { status, expiresAt }: Pick<QuestionRow, 'status' | 'expiresAt'>,
  now: Date,
): boolean => status === 'open' && expiresAt > now

/** Whether a member is one of those who may answer. */
export const mayAnswer = ({ memberIds }: Pick<QuestionRow, 'memberIds'>, memberId: string): boolean =>
  memberIds.length === 0 || memberIds.includes(memberId)

/** Shows a question. One whose time is over has expired, also before a worker has recorded that. */
export const questionOf = (row: QuestionRow, now: Date): Question => {
  const { id, agentId, text, options, createdAt, expiresAt, memberIds, status } = row
  const isOver = status === 'open' && !isOpen(row, now)
  return {
    ...{ id, agentId, text, options, createdAt, expiresAt, to: memberIds },
    ...{ status: isOver ? 'expired' : status, answer: answerOf(row) },
  }
}

/** Returns a question of the agent. Throws `not_found`. */
export const findQuestion = async (
  { question }: Pick<Prisma.TransactionClient, 'question'>,
  { agentId, questionId }: QuestionRef,
): Promise<QuestionRow> => {
  const found = await question.findUnique({ where: { id_agentId: { id: questionId, agentId } } })
  if (!found) throw notFound('question')
  return found
}

/** The condition for questions of a status. */
const withStatus = (status: QuestionStatus, now: Date): Prisma.QuestionWhereInput => {
  if (status === 'open') return { status, expiresAt: { gt: now } }
  return status === 'expired' ? { OR: [{ status }, { status: 'open', expiresAt: { lte: now } }] } : { status }
}

interface ListRequest {
  status?: QuestionStatus | undefined
  limit: number
  cursor?: string | undefined
}

/** Returns the agent's questions, newest first. */
export const listQuestions = async (
  deps: Db & { clock: { now(): Date } },
  viewer: Caller,
  agentId: string,
  { status, limit, cursor }: ListRequest,
): Promise<Page<Question>> => {
  await findAgent(deps, viewer, agentId)
  const now = deps.clock.now()
  const [at, id] = cursor === undefined ? [] : readMoment(cursor)
  const found = await deps.prisma.question.findMany({
    where: {
      AND: [
        { agentId },
        status === undefined ? {} : withStatus(status, now),
        at === undefined ? {} : { OR: [{ createdAt: { lt: at } }, { createdAt: at, id: { lt: id! } }] },
      ],
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  const shown = found.map((row) => questionOf(row, now))
  return pageOf(shown, limit, (one) => writeCursor(one.createdAt.getTime(), one.id))
}

/** Maximum number of questions that a list of those that wait for a member has. @limit Questions */
export const MAX_WAITING = 100

/** Returns the questions of a workspace's agents that a member may answer now, oldest first. */
export const questionsFor = async (
  deps: Db & { clock: { now(): Date } },
  { id, workspaceId }: Pick<Caller, 'id' | 'workspaceId'>,
): Promise<Question[]> => {
  const now = deps.clock.now()
  const found = await deps.prisma.question.findMany({
    where: {
      ...{ workspaceId, status: 'open', expiresAt: { gt: now } },
      OR: [{ memberIds: { isEmpty: true } }, { memberIds: { has: id } }],
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: MAX_WAITING,
  })
  return found.map((row) => questionOf(row, now))
}
