import { isDeleted } from '../../agent/index.ts'
import type { Blobs } from '../../blob/index.ts'
import type { ViewOptions } from '../../core/channel/mail-view.ts'
import { notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Viewer } from '../../workspace/index.ts'
import { type ReadDeps, readMessage } from './read.ts'
import {
  invalidLink,
  isSigned,
  type LinkDeps,
  type Signed,
  type SignedLink,
  signLink,
} from './signed-link.ts'
import { type ViewDeps, viewMessage, viewReadable } from './view.ts'

interface Place {
  agentId: string
  messageId: string
}

const fileOf = ({ remoteImages }: ViewOptions) => (remoteImages ? 'html-with-images' : 'html')

/** Returns a link to a mail's HTML as a page for an iframe. Checks no permission. */
export const signHtmlLink = (deps: LinkDeps, messageId: string, options: ViewOptions): SignedLink =>
  signLink(deps, { messageId, file: fileOf(options) })

/** Returns a link to the HTML of an email of the agent. Throws `not_found` if it has none. */
export const linkHtml = async (
  deps: ReadDeps & ViewDeps & LinkDeps,
  viewer: Viewer,
  place: Place,
  options: ViewOptions,
): Promise<SignedLink> => {
  const { html } = await viewMessage(deps, viewer, place, options)
  if (html === null) throw notFound('HTML')
  return signHtmlLink(deps, place.messageId, options)
}

/** Returns the HTML that a link refers to. */
export const openHtmlLink = async (
  deps: ViewDeps & Pick<LinkDeps, 'clock' | 'linkKey'>,
  messageId: string,
  options: ViewOptions,
  signed: Signed,
): Promise<string> => {
  if (!isSigned(deps, { messageId, file: fileOf(options) }, signed)) throw invalidLink()
  const message = await deps.prisma.message.findFirst({
    where: { id: messageId },
    select: { id: true, agentId: true, channel: true },
  })
  const { html } =
    message && !(await isDeleted(deps, message.agentId))
      ? await viewReadable(deps, message, options)
      : { html: null }
  if (html === null) throw invalidLink()
  return html
}

/** Returns a link to an email as it was received. Throws `not_found` for a message without a raw form. */
export const linkRaw = async (
  deps: ReadDeps & LinkDeps,
  viewer: Viewer,
  { agentId, messageId }: Place,
): Promise<SignedLink> => {
  await readMessage(deps, viewer, agentId, messageId)
  const stored = await deps.prisma.messageRaw.count({ where: { messageId, agentId } })
  if (stored === 0) throw notFound('raw message')
  return signLink(deps, { messageId, file: 'raw' })
}

/** Returns the email, byte for byte, that a link refers to. */
export const openRawLink = async (
  deps: Db & Pick<LinkDeps, 'clock' | 'linkKey'> & { blobs: Blobs },
  messageId: string,
  signed: Signed,
): Promise<Uint8Array<ArrayBuffer>> => {
  const valid = isSigned(deps, { messageId, file: 'raw' }, signed)
  const stored = valid && (await deps.prisma.messageRaw.findFirst({ where: { messageId } }))
  if (!stored || (await isDeleted(deps, stored.agentId))) throw invalidLink()
  return deps.blobs.contentOf(stored)
}
