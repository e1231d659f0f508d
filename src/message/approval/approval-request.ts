import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { quoted } from '../../core/text/quoted.ts'
import type { Db } from '../../db/client.ts'
import type { Agent, Member, Message } from '../../db/generated/prisma/client.ts'
import type { Mailer } from '../../workspace/index.ts'
import type { MessageRef } from './approval.ts'
import { APPROVAL_DAYS, awaitsApproval } from './hold.ts'

/** What the mail says of a message. */
type Held = Pick<Message, 'id' | 'agentId' | 'workspaceId' | 'to' | 'subject' | 'holdUntil'>

export interface ApprovalRequestDeps extends Db {
  clock: Clock
  mailer: Mailer
  /** Key that links are signed with, the same in every process. */
  approvalKey: Uint8Array
  publicUrl(): string
}

const PATH = '/approve'

const signatureOf = (key: Uint8Array, signed: string): Buffer =>
  createHmac('sha256', key).update(signed).digest()

const linkFor = (
  { approvalKey, publicUrl }: ApprovalRequestDeps,
  memberId: string,
  message: Held,
): string => {
  const expires = Math.floor((message.holdUntil?.getTime() ?? 0) / 1000)
  const signed = [memberId, message.agentId, message.id, expires].join('.')
  return `${publicUrl()}${PATH}/${signed}.${signatureOf(approvalKey, signed).toString('base64url')}`
}

const mailOf = (agent: string, { to, subject }: Held, url: string) => ({
  subject: `Approve a message of ${quoted(agent)}?`,
  text: `${quoted(agent)} wants to send a message to ${to.join(', ')}${subject ? `, with the subject ${quoted(subject, 240)}` : ''}.

Read it, then approve or reject it here:

${url}

The link is only for you: whoever has it can decide in your name. A message that nobody approves within ${APPROVAL_DAYS} days is rejected.
You get these mails because you asked for them; change that with PATCH /members/me {"approvalMails": false}.
`,
})

/** Mails a link to decide on a message to the members who asked for that. */
export const requestApproval = async (deps: ApprovalRequestDeps, message: Held): Promise<void> => {
  const { workspaceId, agentId } = message
  const members = await deps.prisma.member.findMany({ where: { workspaceId, approvalMails: true } })
  if (members.length === 0) return
  const { name } = await deps.prisma.agent.findUniqueOrThrow({ where: { id: agentId } })
  for (const { id, email } of members)
    deps.afterCommit(() =>
      deps.mailer.send({ to: email, ...mailOf(name, message, linkFor(deps, id, message)) }),
    )
}

/** What a link to decide on a message gives access to. */
export interface ApprovalRequest {
  member: Member
  agent: Agent
  message: Message & { attachments: { name: string; size: number }[] }
  /** Whether the message still waits. */
  open: boolean
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const TOKEN = new RegExp(`^((${UUID})\\.(${UUID})\\.(${UUID})\\.(\\d{1,12}))\\.([\\w-]{43})$`)

/** Returns who may decide on which message with the link; null when it is forged or has expired. */
const readLink = (
  { approvalKey, clock }: Pick<ApprovalRequestDeps, 'approvalKey' | 'clock'>,
  token: string,
): ({ memberId: string } & MessageRef) | null => {
  const [, signed, memberId, agentId, messageId, expires, signature] = TOKEN.exec(token) ?? []
  if (!signed || !memberId || !agentId || !messageId) return null
  const given = Buffer.from(signature ?? '', 'base64url')
  const isValid = timingSafeEqual(given, signatureOf(approvalKey, signed))
  return isValid && clock.now().getTime() < Number(expires) * 1000 ? { memberId, agentId, messageId } : null
}

/**
 * Returns the message that a link asks to decide on; null when the link is forged or has expired, and when the
 * message or the membership no longer exists.
 */
export const openApprovalRequest = async (
  deps: Db & Pick<ApprovalRequestDeps, 'approvalKey' | 'clock'>,
  token: string,
): Promise<ApprovalRequest | null> => {
  const link = readLink(deps, token)
  if (!link) return null
  const { memberId, agentId, messageId } = link
  const [member, agent, message] = await Promise.all([
    deps.prisma.member.findUnique({ where: { id: memberId } }),
    deps.prisma.agent.findUnique({ where: { id: agentId } }),
    deps.prisma.message.findUnique({
      where: { id_agentId: { id: messageId, agentId } },
      include: { attachments: { select: { name: true, size: true }, orderBy: { index: 'asc' } } },
    }),
  ])
  if (!member || !agent || !message || message.workspaceId !== member.workspaceId) return null
  return { member, agent, message, open: awaitsApproval(message) }
}
