import type { IncomingMessage } from 'node:http'
import { type CredentialDeps, checkOrigin, opensMailedLink } from '../auth/index.ts'
import { answerText } from '../core/rules.ts'
import { html } from '../core/text/html.ts'
import { type AnswerDeps, answerQuestion, openQuestionLink, type Question } from '../question/index.ts'
import { deciderOf, type MemberLinkDeps } from '../workspace/index.ts'
import { closedPage, type Link, signInFirst, type Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'
import { checked } from './page/rule.ts'

type AnswerLinkDeps = AnswerDeps & CredentialDeps & MemberLinkDeps

const ADVICE = 'Questions that still wait for an answer are in the web application.'

const OUTCOME = {
  open: 'This question was answered',
  answered: 'This question was answered',
  expired: 'The time for this question is over',
  withdrawn: 'This question was withdrawn',
}

/** What the agent wrote is shown as it is, and nothing in it is a link: it may repeat what others wrote. */
const ended = ({ status, text, answer }: Question): Page => ({
  status: 200,
  title: OUTCOME[status],
  body: html`<pre>${text}</pre>
${answer ? html`<p><span class="soft">${answer.by} answered:</span></p><pre>${answer.text}</pre>` : []}`,
})

const formOf = ({ options }: Question, wrong: Wrong | null) =>
  options.length > 0
    ? html`<form method="post">${options.map((option) => html`<button name="text" value="${option}">${option}</button>`)}</form>`
    : html`<form method="post">
<label for="text">Your answer</label>
<textarea id="text" name="text" rows="6" maxlength="2000" required>${wrong?.form.get('text') ?? ''}</textarea>
<button>Answer</button>
</form>`

const asked = (agent: string, question: Question, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `${agent} asks you a question`,
  body: html`${alertOf(wrong)}
<pre>${question.text}</pre>
<p class="soft">These are the words of the agent, which may repeat what others wrote to it. The first answer counts.</p>
${formOf(question, wrong)}`,
})

/** The link that is mailed with a question: shows it, and answers it once. Opening it changes nothing. */
export const createAnswerLink = (deps: AnswerLinkDeps): Link => {
  const page = async (token: string, wrong: Wrong | null, sent: IncomingMessage): Promise<Page> => {
    const found = await openQuestionLink(deps, token)
    if (!found) return closedPage('unknown', ADVICE)
    if (!(await opensMailedLink(deps, sent, found.member)))
      return signInFirst('answer this question', `/answer/${token}`)
    return found.question.status === 'open'
      ? asked(found.agent.name, found.question, wrong)
      : ended(found.question)
  }
  return {
    show: (token, sent) => page(token, null, sent),
    again: page,
    submit: async (token, form, sent) => {
      checkOrigin(deps, sent)
      const found = await openQuestionLink(deps, token)
      if (found?.question.status !== 'open' || !(await opensMailedLink(deps, sent, found.member)))
        return page(token, null, sent)
      const ref = { agentId: found.agent.id, questionId: found.question.id }
      const text = checked(answerText, 'text', form.get('text') ?? '')
      return ended(await answerQuestion(deps, deciderOf(found.member), ref, { text, through: 'email' }))
    },
  }
}
