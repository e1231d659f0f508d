import { isDeleted } from '../../agent/index.ts'
import type { Blobs } from '../../blob/index.ts'
import { notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Attachment } from '../../db/generated/prisma/client.ts'
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

/** An attachment: its message and its index there. */
export interface AttachmentPlace {
  messageId: string
  index: number
}

/** Returns a link to an attachment of an agent's message. */
export const linkAttachment = async (
  deps: ReadDeps & LinkDeps,
  viewer: Viewer,
  agentId: string,
  { messageId, index }: AttachmentPlace,
): Promise<SignedLink> => {
  const { attachments } = await readMessage(deps, viewer, agentId, messageId)
  if (!attachments[index]) throw notFound('attachment', 'number')
  return signLink(deps, { messageId, file: index })
}

/** Returns the attachment that a link refers to. `view`: a link to look at it, not to save it. */
export const openLink = async (
  deps: Db & Pick<LinkDeps, 'clock' | 'linkKey'> & { blobs: Blobs },
  place: AttachmentPlace,
  signed: Signed,
  view = false,
): Promise<Attachment & { content: Uint8Array<ArrayBuffer> }> => {
  const { messageId, index } = place
  const valid = isSigned(deps, { messageId, file: view ? `${index}-view` : index }, signed)
  const attachment = valid && (await deps.prisma.attachment.findFirst({ where: place }))
  if (!attachment || (await isDeleted(deps, attachment.agentId))) throw invalidLink()
  return deps.blobs.filled(attachment)
}
