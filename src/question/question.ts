import { type Caller, findAgent } from '../agent/index.ts'
import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import { notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, Question as QuestionRow } from '../db/generated/prisma/client.ts'
import type { AnswerWay, QuestionStatus } from '../db/generated/prisma/enums.ts'
import { sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'

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

interface ListRequest {
  status?: QuestionStatus | undefined
  limit: number
  cursor?: string | undefined
}

export const questionCursor = ({ createdAt, id }: Pick<Question, 'createdAt' | 'id'>): string =>
  writeCursor(createdAt.getTime(), id)

/** One whose time is over has expired, also before a worker has recorded that. */
const PAGES = composedOf(sql`select q.* from unnest($1::uuid[]) as a(id) cross join lateral (
  select id, agent_id as "agentId", workspace_id as "workspaceId", text, options, member_ids as "memberIds", status,
         answer_text as "answerText", answered_by_id as "answeredById", answered_by as "answeredBy", answered_at as "answeredAt",
         answered_through as "answeredThrough", created_at as "createdAt", expires_at as "expiresAt"
    from question
   where agent_id = a.id and ($2::timestamptz is null or (created_at, id) < ($2, $3::uuid))
     and ($5::text is null or $5 = case when status = 'open' and expires_at <= $6 then 'expired' else status::text end)
   order by created_at desc, id desc limit $4) q`)

/** Returns a page of the questions of each of these agents, newest first, with one statement for all of them. */
export const readQuestions = async (
  { pool, clock }: Db & { clock: { now(): Date } },
  agentIds: readonly string[],
  { status, limit, cursor }: ListRequest,
): Promise<Page<Question>[]> => {
  const [at, id] = cursor === undefined ? [null, null] : readMoment(cursor)
  const now = clock.now()
  const { rows } = await pool.query<QuestionRow>({
    name: 'question pages',
    ...PAGES,
    values: [agentIds, at, id, limit + 1, status ?? null, now],
  })
  const lists = new Map(agentIds.map((agentId) => [agentId, [] as Question[]]))
  for (const row of rows) lists.get(row.agentId)?.push(questionOf(row, now))
  return agentIds.map((agentId) => pageOf(lists.get(agentId) ?? [], limit, questionCursor))
}

/** Returns the agent's questions, newest first. */
export const listQuestions = async (
  deps: Db & { clock: { now(): Date } },
  viewer: Caller,
  agentId: string,
  request: ListRequest,
): Promise<Page<Question>> => {
  await findAgent(deps, viewer, agentId)
  return (await readQuestions(deps, [agentId], request))[0]!
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
