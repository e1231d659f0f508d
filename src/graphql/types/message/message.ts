import { findAgent, findAgents } from '../../../agent/index.ts'
import { Hold as HOLD, Message as MESSAGE } from '../../../api/message/message.ts'
import { Recipient as RECIPIENT } from '../../../api/message/message-part.ts'
import { seenBy } from '../../../api/message/seen.ts'
import type { Operation } from '../../../api/operation.ts'
import { columnsOf, type Fields, sentenceOf } from '../../../api/resource.ts'
import { CHANNELS, type ChannelKind } from '../../../core/channels.ts'
import { notFound } from '../../../core/errors.ts'
import { hasScope } from '../../../core/scopes.ts'
import { readPreviews } from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, made, mutation, objectOf } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { readInTurn } from '../../context/limits.ts'
import { Agent } from '../agent/agent.ts'
import { ATTACHMENT, Attachment, hasAttachments } from './attachment.ts'

const Recipient = builder.prismaObject('Recipient', {
  description: RECIPIENT.sentence,
  fields: (t) => exposed(t, RECIPIENT.fields),
})

export const Hold = objectOf(HOLD)

/** Whether a message is kept as it was received. */
export const isReceivedMail = ({ channel, direction }: { channel: string; direction: string }): boolean =>
  CHANNELS[channel as ChannelKind].mail && direction === 'inbound'

export const agentOf = (context: GraphqlContext, agentId: string) =>
  batched(context, 'agents of messages', agentId, (ids) => findAgents(context.deps, context.viewer, ids))

export const Message = builder.prismaObject('Message', {
  description: MESSAGE.sentence,
  select: { id: true },
  fields: (t) => ({
    ...exposed(t, columnsOf(MESSAGE, 'attachments', 'mayInstruct', 'highlights')),
    ...made(t, MESSAGE),
    replyAddress: t.exposeString('replyAddress', {
      nullable: true,
      description: 'Where replies go instead of to its sender, if a received message asks for that.',
    }),
    preview: t.string({
      description:
        'The first 140 characters of the text without quoted history, in one line. In a list, it costs much less than the text.',
      select: { id: true, agentId: true },
      resolve: ({ id, agentId }, _args, context) =>
        hasScope(context.viewer, 'messages:read')
          ? batched(context, 'previews', `${agentId} ${id}`, (keys) =>
              readPreviews(
                context.deps,
                keys.map((key) => {
                  const [owner, message] = key.split(' ')
                  return { agentId: owner!, id: message! }
                }),
              ),
            )
          : '',
    }),
    attachments: t.field({
      type: [Attachment],
      description: sentenceOf(MESSAGE.fields.attachments),
      select: { attachments: { select: ATTACHMENT, orderBy: { index: 'asc' } } },
      extensions: { hasLoaded: hasAttachments },
      resolve: ({ attachments }) => attachments,
    }),
    attachment: t.field({
      type: Attachment,
      nullable: true,
      args: { index: t.arg.int({ required: true, description: 'The place of the attachment, from 0.' }) },
      description: 'One of its attachments; null if there is none at this place.',
      select: { id: true, agentId: true },
      resolve: ({ id: messageId, agentId }, { index }, { deps }) =>
        deps.prisma.attachment.findUnique({
          select: ATTACHMENT,
          where: { messageId_index_agentId: { messageId, index, agentId } },
        }),
    }),
    recipients: t.relation('recipients', {
      type: Recipient,
      description: 'The status of a sent message for each recipient; empty for a received message.',
      query: { orderBy: { address: 'asc' } },
    }),
    rawUrl: t.string({
      nullable: true,
      description:
        'URL of the original email as received, byte for byte. Requires the same token. Null for messages that are not received emails.',
      select: { id: true, agentId: true, channel: true, direction: true },
      resolve: ({ id, agentId, channel, direction }, _args, { deps }) =>
        isReceivedMail({ channel, direction })
          ? `${deps.publicUrl()}/agents/${agentId}/messages/${id}/raw`
          : null,
    }),
    agent: t.field({
      type: Agent,
      select: { agentId: true },
      description: 'The agent that the message belongs to.',
      resolve: ({ agentId }, _args, context) => agentOf(context, agentId),
    }),
  }),
})

/** Adds the mutation of an operation that returns a message. */
export const messageMutation = <
  Input extends Fields,
  Result extends { id: string; agentId: string; direction: string },
>(
  operation: Operation<Input, Result>,
  takes: string,
): void =>
  mutation(operation, takes, (t) => ({
    message: t.prismaField({
      type: Message,
      description: operation.output.kind === 'nothing' ? '' : operation.output.sentence,
      resolve: async (query, { result }, _args, { deps, viewer }) => {
        const { id, agentId } = result
        const where = { id_agentId: { id, agentId } }
        return seenBy(viewer, result, await deps.prisma.message.findUniqueOrThrow({ ...query, where }))
      },
    }),
  }))

builder.queryField('message', (t) =>
  t.prismaField({
    type: Message,
    description: 'One message.',
    args: { id: t.arg({ type: 'UUID', required: true, description: "The message's id." }) },
    resolve: (query, _root, { id }, context) =>
      readInTurn(context, async () => {
        const { deps, viewer } = context
        const message = await deps.prisma.message.findFirst({
          ...query,
          where: {
            id,
            workspaceId: viewer.workspaceId,
            ...(viewer.kind === 'agent' ? { agentId: viewer.id } : {}),
          },
        })
        if (message && (await findAgent(deps, viewer, message.agentId))) return message // throws if it was deleted
        const hidden = await deps.prisma.message.findFirst({
          where: { id, workspaceId: viewer.workspaceId },
          select: { agentId: true },
        })
        if (hidden) await findAgent(deps, viewer, hidden.agentId) // throws, because it is another agent's
        throw notFound('message')
      }),
  }),
)
