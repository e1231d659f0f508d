import { HeaderField } from '../../../api/message/message-part.ts'
import {
  type MailView,
  type Readable,
  signHtmlLink,
  signLink,
  type ViewOptions,
  viewReadable,
} from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { objectOf } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { AttachmentLink } from './attachment.ts'
import { isReceivedMail, Message } from './message.ts'

/** Cost of parsing a mail that may have 25 MiB; HTML and header fields can take megabytes of the response. */
const PARSED = 250
const IN_RESPONSE = 2_500

const NEEDED = { id: true, agentId: true, channel: true } as const

/** The fields of a message in one operation share its view: it is parsed once. */
const viewOf = (message: Readable, options: ViewOptions, context: GraphqlContext): Promise<MailView> => {
  const { remoteImages, part = 'html' } = options
  const name = `view of ${message.id}, ${remoteImages ? 'with' : 'without'} images`
  return batched(context, name, part, async (parts) => {
    const wanted = parts.includes('html') ? 'html' : part
    const view = await viewReadable(context.deps, message, { remoteImages, part: wanted })
    return parts.map(() => view)
  })
}

const HIDDEN: ViewOptions = { remoteImages: false }
const REMOTE_IMAGES = {
  defaultValue: false,
  description:
    'Whether images on other servers (https) are shown, which tells these servers that the mail is read.',
} as const

builder.prismaObjectFields(Message, (t) => ({
  html: t.string({
    nullable: true,
    complexity: IN_RESPONSE,
    args: { remoteImages: t.arg.boolean(REMOTE_IMAGES) },
    select: NEEDED,
    description:
      "An email's HTML, as received or sent, without scripts, forms, or anything that is loaded from elsewhere; pictures of a received mail itself are embedded. Show it in an `<iframe sandbox>`, or use `htmlLink`. Null if the message has no HTML, or if it is too long or too complex to be sanitized.",
    resolve: async (message, { remoteImages }, context) =>
      (await viewOf(message, { remoteImages: remoteImages ?? false }, context)).html,
  }),
  htmlLink: t.field({
    type: AttachmentLink,
    nullable: true,
    complexity: PARSED,
    args: { remoteImages: t.arg.boolean(REMOTE_IMAGES) },
    select: NEEDED,
    description:
      'A temporary link to `html` as a page, for `<iframe sandbox="allow-popups allow-popups-to-escape-sandbox">` on pages of this service. Null if there is none. Each request returns a new link.',
    resolve: async (message, { remoteImages }, context) => {
      const { html } = await viewOf(message, HIDDEN, context)
      return html === null
        ? null
        : signHtmlLink(context.deps, message.id, { remoteImages: remoteImages ?? false })
    },
  }),
  blockedImages: t.int({
    complexity: PARSED,
    select: NEEDED,
    description: 'How many images on other servers `html` refers to, which are shown only on request.',
    resolve: async (message, _args, context) => (await viewOf(message, HIDDEN, context)).blockedImages,
  }),
  headers: t.field({
    type: [objectOf(HeaderField)],
    complexity: PARSED,
    select: NEEDED,
    description:
      "A received email's header fields in order: at most 500 fields and 256 KiB. Empty for other messages.",
    resolve: async (message, _args, context) =>
      (await viewOf(message, { ...HIDDEN, part: 'headers' }, context)).headers,
  }),
  hiddenText: t.stringList({
    complexity: IN_RESPONSE,
    authScopes: { member: true },
    select: NEEDED,
    description:
      'The text of a received email that people do not see and that `text` leaves out: hidden by the HTML, spelled by invisible characters, or encoded. For members only: it may be meant for models.',
    resolve: async (message, _args, context) =>
      (await viewReadable(context.deps, message, { ...HIDDEN, part: 'hiddenText' })).hiddenText,
  }),
  rawLink: t.field({
    type: AttachmentLink,
    nullable: true,
    description:
      'A temporary link to the original email as received, which works without a token. Null for messages that are not received emails. Each request returns a new link.',
    select: { id: true, channel: true, direction: true },
    resolve: (message, _args, { deps }) =>
      isReceivedMail(message) ? signLink(deps, { messageId: message.id, file: 'raw' }) : null,
  }),
}))
