import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type CredentialDeps, checkOrigin, opensMailedLink } from '../auth/index.ts'
import { invalidInput } from '../core/errors.ts'
import { rejectionReason } from '../core/rules.ts'
import { html } from '../core/text/html.ts'
import {
  type ApprovalDeps,
  type ApprovalRequest,
  type ApprovalRequestDeps,
  approveMessage,
  htmlTextOf,
  imagesOf,
  openApprovalRequest,
  rejectMessage,
} from '../message/index.ts'
import { deciderOf } from '../workspace/index.ts'
import { closedPage, type Link, signInFirst, type Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'
import { checked } from './page/rule.ts'

type ApproveDeps = ApprovalDeps & CredentialDeps & Pick<ApprovalRequestDeps, 'approvalKey'>

const ADVICE = 'Members can still decide on messages that wait, with their token or in the web application.'

const decided = (message: Pick<ApprovalRequest['message'], 'status' | 'error' | 'holdBy'>): Page => ({
  status: 200,
  title: message.status === 'failed' ? 'This message was not sent' : 'This message was approved',
  body: html`<p>${(message.status === 'failed' && message.error) || `Approved by ${message.holdBy}`}.</p>`,
})

const words = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** What readers of the HTML see, where that is not the text: a member approves both. */
const shownAsHtml = ({ message, htmlText }: Pick<Asked, 'message' | 'htmlText'>) => {
  if (htmlText === null) return []
  const images = imagesOf(message)
  return html`${
    words(htmlText) === words(message.text)
      ? html`<p class="soft">It is sent as HTML too, with the same text.</p>`
      : html`<p><span class="soft">It is sent as HTML too, which most readers see instead:</span></p>
<pre>${htmlText}</pre>`
  }
${images.length > 0 ? html`<p><span class="soft">The HTML also shows images, which are not checked here:</span> ${images.join(', ')}</p>` : []}`
}

/** Identifies what is shown, so that an approval counts for nothing else. */
const versionOf = ({
  to,
  cc,
  bcc,
  subject,
  text,
  html: shown,
  sendAt,
  attachments,
}: ApprovalRequest['message']): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        to,
        cc,
        bcc,
        subject,
        text,
        shown,
        sendAt,
        attachments.map(({ name, size }) => [name, size]),
      ]),
    )
    .digest('base64url')

interface Asked extends ApprovalRequest {
  /** What the HTML that is sent says. */
  htmlText: string | null
}

const CHANGED = {
  status: 409,
  problem: 'This message has changed since it was shown to you. Read it again.',
  form: new URLSearchParams(),
}

const asked = ({ agent, message, htmlText }: Asked, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `Send this message of ${agent.name}?`,
  body: html`${alertOf(wrong)}
<p><span class="soft">To:</span> ${message.to.join(', ')}</p>
${message.cc.length > 0 ? html`<p><span class="soft">Cc:</span> ${message.cc.join(', ')}</p>` : []}
${message.bcc.length > 0 ? html`<p><span class="soft">Bcc:</span> ${message.bcc.join(', ')}</p>` : []}
${message.subject ? html`<p><span class="soft">Subject:</span> ${message.subject}</p>` : []}
<pre>${message.text}</pre>
${shownAsHtml({ message, htmlText })}
${message.attachments.length > 0 ? html`<p><span class="soft">Files:</span> ${message.attachments.map(({ name }) => name).join(', ')}</p>` : []}
${message.sendAt ? html`<p><span class="soft">To be sent at:</span> ${message.sendAt.toISOString()}</p>` : []}
<form method="post">
<input type="hidden" name="version" value="${versionOf(message)}">
<button name="decision" value="approve">Approve and send</button>
</form>
<form method="post">
<label for="reason">Reason for rejecting it (optional)</label>
<input id="reason" name="reason" maxlength="500" value="${wrong?.form.get('reason') ?? ''}">
<button name="decision" value="reject" class="quiet">Reject</button>
</form>`,
})

/** The link that is mailed when a message waits for approval: shows it, and approves or rejects it once. */
export const createApproveLink = (deps: ApproveDeps): Link => {
  const page = async (token: string, wrong: Wrong | null, sent: IncomingMessage): Promise<Page> => {
    const request = await openApprovalRequest(deps, token)
    if (!request) return closedPage('unknown', ADVICE)
    if (!(await opensMailedLink(deps, sent, request.member)))
      return signInFirst('read this message', `/approve/${token}`)
    if (!request.open) return decided(request.message)
    return asked({ ...request, htmlText: await htmlTextOf(deps.channels, request.message) }, wrong)
  }
  return {
    show: (token, sent) => page(token, null, sent),
    again: page,
    submit: async (token, form, sent) => {
      checkOrigin(deps, sent)
      const request = await openApprovalRequest(deps, token)
      if (!request?.open || !(await opensMailedLink(deps, sent, request.member)))
        return page(token, null, sent)
      const ref = { agentId: request.agent.id, messageId: request.message.id }
      const decision = form.get('decision')
      if (decision === 'approve' && form.has('version') && form.get('version') !== versionOf(request.message))
        return page(token, CHANGED, sent)
      if (decision === 'approve') return decided(await approveMessage(deps, deciderOf(request.member), ref))
      if (decision !== 'reject') throw invalidInput('decision', 'must be approve or reject')
      const why = checked(rejectionReason, 'reason', form.get('reason')?.trim() ?? '')
      return decided(await rejectMessage(deps, deciderOf(request.member), ref, why))
    },
  }
}
