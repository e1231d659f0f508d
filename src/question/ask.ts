import { v7 as newId } from 'uuid'
import { findAgent } from '../agent/index.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Member, Prisma } from '../db/generated/prisma/client.ts'
import { type LeakDeps, refuseLeaks } from '../secret/index.ts'
import { noteChange, type RateLimits, type Viewer } from '../workspace/index.ts'
import { announceQuestion, type NoticeDeps } from './notice.ts'
import { type Question, type QuestionRow, questionOf } from './question.ts'

export interface AskDeps extends NoticeDeps, LeakDeps {
  rates: Pick<RateLimits, 'takeAll'>
}

/** Maximum number of questions of an agent that wait for an answer. @limit Questions */
const MAX_OPEN = 20
/** Questions that an agent can ask in an hour: each is mailed, and may cost a text message. @limit Questions */
const AN_HOUR = 60
const HOUR_MS = 3_600_000
/** Time for which a question can be answered by default: a day. @limit Questions */
const DEFAULT_SECONDS = 86_400

/** What is asked. */
export interface Asked {
  text: string
  options?: readonly string[] | undefined
  /** Ids of members. */
  to?: readonly string[] | undefined
  /** In seconds. */
  expiresIn?: number | undefined
}

/** Returns the members who are asked: those that are named, or all. Throws `invalid_input` for somebody who is no member. */
const membersOf = async (
  { member }: Pick<Prisma.TransactionClient, 'member'>,
  workspaceId: string,
  to: readonly string[],
): Promise<Member[]> => {
  const found = await member.findMany({
    where: { workspaceId, ...(to.length > 0 ? { id: { in: [...to] } } : {}) },
    orderBy: { id: 'asc' },
  })
  const missing = to.find((id) => !found.some((one) => one.id === id))
  if (missing !== undefined) throw invalidInput('to', `${missing} is no member of the workspace`)
  return found
}

const sameOption = (options: readonly string[]): string | undefined => {
  const known = options.map((option) => option.normalize('NFC').trim().toLowerCase())
  return options.find((_, index) => known.indexOf(known[index]!) !== index)
}

/** Throws `invalid_input` for options that cannot be distinguished. */
const check = ({ text, options = [] }: Asked): void => {
  if (text.trim() === '') throw invalidInput('text', 'must not be blank')
  const same = sameOption(options)
  if (same !== undefined) throw invalidInput('options', `must differ: “${same}” is there twice`)
}

const ensureRate = ({ rates }: Pick<AskDeps, 'rates'>, agentId: string): void => {
  const over = rates.takeAll([{ key: `questions:${agentId}`, limit: AN_HOUR, windowMs: HOUR_MS }])
  if (over)
    throw new AppError('rate_limited', `An agent can ask at most ${AN_HOUR} questions an hour.`, {
      retryAfter: 600,
    })
}

/** Stores the question, unless too many of the agent are open. */
const store = (deps: AskDeps, row: QuestionRow): Promise<void> =>
  deps.prisma.$transaction(async (tx) => {
    const { agentId, workspaceId, id, createdAt: now } = row
    // Of several at once, each counts those before it.
    await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${`questions:${agentId}`}, 0))) as locked`
    const open = await tx.question.count({ where: { agentId, status: 'open', expiresAt: { gt: now } } })
    if (open >= MAX_OPEN)
      throw new AppError(
        'conflict',
        `An agent can have at most ${MAX_OPEN} open questions. Withdraw one first.`,
      )
    await tx.question.create({ data: row })
    await noteChange(tx, { workspaceId, kind: 'question', agentId, ids: [id] })
  })

/**
 * Asks members a question, who hear of it in the web application, by mail and in chats. Throws `conflict` when too many of the
 * agent's questions are open, and `forbidden` when it contains values of the agent's secrets.
 */
export const askQuestion = async (
  deps: AskDeps,
  viewer: Viewer,
  agentId: string,
  asked: Asked,
): Promise<Question> => {
  const agent = await findAgent(deps, viewer, agentId)
  const { text, options = [], to = [], expiresIn = DEFAULT_SECONDS } = asked
  check(asked)
  const members = await membersOf(deps.prisma, agent.workspaceId, to)
  const fields = [{ name: 'text', text }, ...options.map((option) => ({ name: 'options', text: option }))]
  await refuseLeaks(deps, viewer, agentId, fields)
  ensureRate(deps, agentId)
  const createdAt = deps.clock.now()
  const row: QuestionRow = {
    ...{ id: newId(), agentId, workspaceId: agent.workspaceId, text, options: [...options] },
    ...{
      memberIds: [...new Set(to)],
      status: 'open',
      answerText: null,
      answeredById: null,
      answeredBy: null,
    },
    ...{ answeredAt: null, answeredThrough: null, createdAt },
    expiresAt: new Date(createdAt.getTime() + expiresIn * 1000),
  }
  await store(deps, row)
  await announceQuestion(deps, agent, row, members)
  return questionOf(row, createdAt)
}
