import { askInChats, type ChatDeps } from '../agent/index.ts'
import { defanged } from '../core/text/defanged.ts'
import { quoted } from '../core/text/quoted.ts'
import type { Agent, Member } from '../db/generated/prisma/client.ts'
import { type Mailer, signLink } from '../workspace/index.ts'
import type { QuestionRow } from './question.ts'

export interface NoticeDeps extends ChatDeps {
  mailer: Mailer
  publicUrl(): string
}

const ANSWER_PATH = '/answer'

/** Time for which the link then still tells what became of the question: a week. */
const OPENS_MS = 7 * 24 * 3_600_000
/** Characters of the question that a mail has: the page behind its link has all of it. */
const MAX_TEXT = 500

const optionsOf = ({ options }: QuestionRow): string =>
  options.length === 0
    ? ''
    : `\nThe answers to choose from: ${options.map((one) => quoted(defanged(one))).join(', ')}.\n`

const mailOf = (agent: string, question: QuestionRow, url: string) => ({
  subject: `${quoted(agent)} asks you a question`,
  text: `${quoted(agent)} asks:

${quoted(defanged(question.text), MAX_TEXT)}
${optionsOf(question)}
Answer here until ${question.expiresAt.toISOString()}:

${url}

The link is only for you: whoever has it can answer in your name. The first answer counts. The question is in the words of the agent,
which may repeat what others wrote to it. Questions are also in the web application; PATCH /members/me {"questionMails": false} ends these mails.
`,
})

/** Tells the members who want that of a question, by mail and in the chats where they have proven who they are, once it is committed. */
export const announceQuestion = async (
  deps: NoticeDeps,
  { id: agentId, name }: Pick<Agent, 'id' | 'name'>,
  question: QuestionRow,
  asked: readonly Member[],
): Promise<void> => {
  const { id, text, options } = question
  const members = asked.filter(({ questionMails }) => questionMails)
  const opensUntil = new Date(question.expiresAt.getTime() + OPENS_MS)
  for (const { id: memberId, email } of members) {
    const url = `${deps.publicUrl()}${ANSWER_PATH}/${signLink(deps, 'answer', { memberId, agentId, id }, opensUntil)}`
    deps.afterCommit(() => deps.mailer.send({ to: email, ...mailOf(name, question, url) }))
  }
  const intro = `${quoted(name)} asks you a question:`
  await askInChats(deps, { id, agentId, intro, text, options }, members)
}
