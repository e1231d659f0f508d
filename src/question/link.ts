import type { Db } from '../db/client.ts'
import type { Agent, Member } from '../db/generated/prisma/client.ts'
import { ensureNotMoving, type MemberLinkDeps, readLink } from '../workspace/index.ts'
import { mayAnswer, type Question, questionOf } from './question.ts'

/** What a mailed link to answer a question gives access to. */
export interface LinkedQuestion {
  member: Member
  agent: Agent
  question: Question
}

/**
 * Returns the question that a link asks to answer; null when the link is forged or has expired, when the question or the membership
 * no longer exists, and for a member who was not asked.
 */
export const openQuestionLink = async (
  deps: Db & MemberLinkDeps,
  token: string,
): Promise<LinkedQuestion | null> => {
  const link = readLink(deps, 'answer', token)
  if (!link) return null
  const { memberId, agentId, id } = link
  const [member, row] = await Promise.all([
    deps.prisma.member.findUnique({ where: { id: memberId } }),
    deps.prisma.question.findUnique({ where: { id_agentId: { id, agentId } }, include: { agent: true } }),
  ])
  if (!member || !row || row.workspaceId !== member.workspaceId || !mayAnswer(row, memberId)) return null
  await ensureNotMoving(deps, member.workspaceId)
  return { member, agent: row.agent, question: questionOf(row, deps.clock.now()) }
}
