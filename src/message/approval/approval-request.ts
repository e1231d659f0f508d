import { askInChats, type ChatDeps } from '../../agent/index.ts'
import type { Check } from '../../core/channel/inbound.ts'
import { defanged } from '../../core/text/defanged.ts'
import { quoted } from '../../core/text/quoted.ts'
import type { Db } from '../../db/client.ts'
import type { Agent, Member, Message } from '../../db/generated/prisma/client.ts'
import {
  ensureNotMoving,
  type Mailer,
  type MemberLinkDeps,
  readLink,
  signLink,
} from '../../workspace/index.ts'
import { APPROVAL_DAYS, awaitsApproval } from './hold.ts'

/** What the mail says of a message. */
type Held = Pick<
  Message,
  | 'id'
  | 'agentId'
  | 'workspaceId'
  | 'to'
  | 'cc'
  | 'subject'
  | 'text'
  | 'html'
  | 'holdUntil'
  | 'sendAt'
  | 'checks'
>

export interface ApprovalRequestDeps extends ChatDeps, MemberLinkDeps {
  mailer: Mailer
  publicUrl(): string
}

const PATH = '/approve'

const linkFor = (deps: ApprovalRequestDeps, memberId: string, { agentId, id, holdUntil }: Held): string =>
  `${deps.publicUrl()}${PATH}/${signLink(deps, 'approve', { memberId, agentId, id }, holdUntil)}`

const mailOf = (agent: string, { to, subject }: Held, url: string) => ({
  subject: `Approve a message of ${quoted(agent)}?`,
  text: `${quoted(agent)} wants to send a message to ${to.join(', ')}${subject ? `, with the subject ${quoted(subject, 240)}` : ''}.

Read it, then approve or reject it here:

${url}

The link is only for you: whoever has it can decide in your name. A message that nobody approves within ${APPROVAL_DAYS} days is rejected.
You get these mails because you asked for them; change that with PATCH /members/me {"approvalMails": false}.
`,
})

/** What members answer in a chat about a message that waits. */
export const APPROVE_OR_REJECT = ['Approve', 'Reject'] as const

/** Characters of a message that members can decide on in a chat: of a longer one they would not see all. */
const MAX_IN_CHAT = 600

/** Whether a message goes to somebody whom it does not name. */
const hasBlindCopies = async (
  { prisma }: ApprovalRequestDeps,
  { id: messageId, agentId, to, cc }: Held,
): Promise<boolean> => {
  const named = new Set([...to, ...cc].map((address) => address.toLowerCase()))
  const where = { messageId, agentId }
  const recipients = await prisma.recipient.findMany({ where, select: { address: true } })
  return recipients.some(({ address }) => !named.has(address.toLowerCase()))
}

/** Whether a message waits because of secrets: their values are not for phone companies, and a chat does not say why it waits. */
const waitsForSecrets = ({ checks }: Held): boolean =>
  (checks as unknown as Check[]).some(({ name }) => name === 'secrets')

/**
 * Asks in chats too if these show all that is sent: neither HTML nor files nor blind copies, nor a long text, as long as it is with
 * its links made harmless; none for later, as its time can change while it waits, and none with values of secrets.
 */
const askInChat = async (
  deps: ApprovalRequestDeps,
  agent: string,
  message: Held,
  members: readonly Member[],
): Promise<void> => {
  const { id, agentId, to, cc, subject, text, html, sendAt } = message
  if (html !== null || sendAt !== null || waitsForSecrets(message)) return
  const head = [`To: ${[...to, ...cc].join(', ')}`, ...(subject ? [`Subject: ${subject}`] : [])]
  const shown = `${head.join('\n')}\n\n${text}`
  if (defanged(shown).length > MAX_IN_CHAT || (await hasBlindCopies(deps, message))) return
  if ((await deps.prisma.attachment.count({ where: { messageId: id, agentId } })) > 0) return
  const intro = `${quoted(agent)} wants to send this message:`
  await askInChats(deps, { id, agentId, intro, text: shown, options: APPROVE_OR_REJECT }, members)
}

/** Asks the members who want that to decide on a message: by mail with a link, and in the chats where they have proven who they are. */
export const requestApproval = async (deps: ApprovalRequestDeps, message: Held): Promise<void> => {
  const { workspaceId, agentId } = message
  const members = await deps.prisma.member.findMany({ where: { workspaceId, approvalMails: true } })
  if (members.length === 0) return
  const { name } = await deps.prisma.agent.findUniqueOrThrow({ where: { id: agentId } })
  for (const { id, email } of members)
    deps.afterCommit(() =>
      deps.mailer.send({ to: email, ...mailOf(name, message, linkFor(deps, id, message)) }),
    )
  await askInChat(deps, name, message, members)
}

/** What a link to decide on a message gives access to. */
export interface ApprovalRequest {
  member: Member
  agent: Agent
  message: Message & { attachments: { name: string; size: number }[] }
  /** Whether the message still waits. */
  open: boolean
}

/**
 * Returns the message that a link asks to decide on; null when the link is forged or has expired, and when the
 * message or the membership no longer exists.
 */
export const openApprovalRequest = async (
  deps: Db & MemberLinkDeps,
  token: string,
): Promise<ApprovalRequest | null> => {
  const link = readLink(deps, 'approve', token)
  if (!link) return null
  const { memberId, agentId, id: messageId } = link
  const [member, agent, message] = await Promise.all([
    deps.prisma.member.findUnique({ where: { id: memberId } }),
    deps.prisma.agent.findUnique({ where: { id: agentId } }),
    deps.prisma.message.findUnique({
      where: { id_agentId: { id: messageId, agentId } },
      include: { attachments: { select: { name: true, size: true }, orderBy: { index: 'asc' } } },
    }),
  ])
  if (!member || !agent || !message || message.workspaceId !== member.workspaceId) return null
  await ensureNotMoving(deps, member.workspaceId)
  return { member, agent, message, open: awaitsApproval(message) }
}
