import { type AwaitNewsDeps, findAgent, findOrAwait, type Waiting } from '../agent/index.ts'
import type { Db } from '../db/client.ts'
import type { News } from '../db/news.ts'
import type { Viewer } from '../workspace/index.ts'
import { findQuestion, type Question, type QuestionRef, questionOf } from './question.ts'

export interface ReadDeps extends Db, AwaitNewsDeps {
  questionNews: News
}

/** Returns a question. While it is open, waits so many seconds for it to end. */
export const readQuestion = async (
  deps: ReadDeps,
  viewer: Viewer,
  { agentId, questionId, seconds = 0 }: QuestionRef & { seconds?: number | undefined },
  waiting: Waiting,
): Promise<Question> => {
  await findAgent(deps, viewer, agentId)
  const find = async () =>
    questionOf(await findQuestion(deps.prisma, { agentId, questionId }), deps.clock.now())
  const present = await find()
  if (seconds === 0 || present.status !== 'open') return present
  const left = (present.expiresAt.getTime() - deps.clock.now().getTime()) / 1000
  const look = {
    ...{ agentId, news: deps.questionNews, seconds: Math.min(seconds, left) },
    find: async () => {
      const found = await find()
      return found.status === 'open' ? null : found
    },
  }
  return (await findOrAwait(deps, viewer, look, waiting)) ?? find()
}
