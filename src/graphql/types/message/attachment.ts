import { AttachmentLink as LINK, offset, AttachmentText as TEXT } from '../../../api/message/message-part.ts'
import { sentenceOf } from '../../../api/resource.ts'
import type { Prisma } from '../../../db/generated/prisma/client.ts'
import { readableText, signLink, textPageOf } from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { objectOf } from '../../builder/rendered.ts'

export const AttachmentLink = objectOf(LINK)

/** What is read of each attachment, whichever of its fields are requested: a list reads it with its messages. */
export const ATTACHMENT = {
  messageId: true,
  index: true,
  name: true,
  type: true,
  size: true,
  message: { select: { agentId: true, workspaceId: true } },
} as const

type AttachmentShape = Prisma.AttachmentGetPayload<{ select: typeof ATTACHMENT }>

/** Whether a message was read with its attachments: one that was just sent has only their names, types and sizes. */
export const hasAttachments = ({ attachments }: { attachments?: Partial<AttachmentShape>[] }): boolean =>
  attachments?.every(({ message }) => message !== undefined) ?? false

const AttachmentText = objectOf(TEXT)

/** The first reading of a file takes up to seconds of another process. */
const READ = 500

export const Attachment = builder.objectRef<AttachmentShape>('Attachment').implement({
  description: 'A file attached to a message, without its content.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.string({
      description: 'Its media type.',
      resolve: ({ type }) => type.split(';', 1)[0]!,
    }),
    size: t.expose('size', { type: 'SafeInt', description: 'Its size in bytes.' }),
    url: t.string({
      description: 'URL of the content. Requires the same token.',
      resolve: ({ messageId, index, message }, _args, { deps }) =>
        `${deps.publicUrl()}/agents/${message.agentId}/messages/${messageId}/attachments/${index}`,
    }),
    text: t.field({
      type: AttachmentText,
      nullable: true,
      complexity: READ,
      description: `${TEXT.sentence} \`INVALID_INPUT\` for a file that has none, saying why.`,
      args: { offset: t.arg({ type: 'SafeInt', description: sentenceOf(offset) }) },
      resolve: async ({ messageId, index, message }, { offset: from }, { deps }) =>
        textPageOf(await readableText(deps, { messageId, index, ...message }), from ?? undefined),
    }),
    link: t.field({
      type: AttachmentLink,
      description:
        'A temporary link to the content that works without a token. Each request returns a new link.',
      args: {
        view: t.arg.boolean({
          defaultValue: false,
          description:
            'Whether browsers show it instead of saving it: PNG, JPEG, GIF, WebP, AVIF and PDF. Everything else is always saved.',
        }),
      },
      resolve: ({ messageId, index }, { view }, { deps }) =>
        signLink(deps, { messageId, file: view ? `${index}-view` : index }),
    }),
  }),
})
