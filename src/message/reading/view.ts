import type { Blobs } from '../../blob/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { MailView, ViewOptions } from '../../core/channel/mail-view.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { AppError } from '../../core/errors.ts'
import { Turns } from '../../core/turns.ts'
import type { Db } from '../../db/client.ts'
import { ensureMember, type Viewer } from '../../workspace/index.ts'
import { type ReadDeps, readMessage } from './read.ts'

export type { MailView, ViewOptions }

export interface ViewDeps extends Db {
  blobs: Blobs
  channels: Channels
  views: Turns
}

/** A message has up to 25 MiB, and its view takes several times as much memory. */
export const createViews = (): Turns =>
  new Turns({
    ...{ total: 6, perKey: 3, waiting: 200 },
    tooMany: () =>
      new AppError('unavailable', 'Too many messages are being opened at once.', { retryAfter: 5 }),
  })

/** A message whose reader is known to be allowed to read it. */
export interface Readable {
  id: string
  agentId: string
  channel: string
}

const EMPTY: MailView = { html: null, blockedImages: 0, headers: [], hiddenText: [] }

const sentHtml = async (
  prisma: Db['prisma'],
  { agentId, messageId: id }: { agentId: string; messageId: string },
): Promise<string | null> =>
  (await prisma.message.findUnique({ where: { id_agentId: { id, agentId } }, select: { html: true } }))
    ?.html ?? null

/**
 * Returns the HTML and the header of an email as it was received, or the HTML of one that was sent; neither
 * for any other message. Checks no permission.
 */
export const viewReadable = (
  { prisma, channels, views, blobs }: ViewDeps,
  { id: messageId, agentId, channel }: Readable,
  { remoteImages, part = 'html' }: ViewOptions,
): Promise<MailView> => {
  const { view } = channels[channel as ChannelKind] ?? {}
  if (!view) return Promise.resolve(EMPTY)
  return views.run(agentId, async () => {
    const where = { messageId_agentId: { messageId, agentId } }
    const stored = await prisma.messageRaw.findUnique({ where })
    if (stored) {
      const mail = { raw: await blobs.contentOf(stored) }
      return view({ mail, remoteImages, part, source: agentId })
    }
    if (part !== 'html') return EMPTY // a sent email has neither
    const html = await sentHtml(prisma, { agentId, messageId })
    return html === null ? EMPTY : view({ mail: { html }, remoteImages, source: agentId })
  })
}

/** Returns the HTML and the header of an email of the agent. */
export const viewMessage = async (
  deps: ReadDeps & ViewDeps,
  viewer: Viewer,
  { agentId, messageId }: { agentId: string; messageId: string },
  options: ViewOptions = { remoteImages: false },
): Promise<MailView> => viewReadable(deps, await readMessage(deps, viewer, agentId, messageId), options)

/**
 * Returns the texts of a received email that people do not see, for members: what is kept from an agent's models is not
 * shown to agents.
 */
export const readHiddenText = async (
  deps: ReadDeps & ViewDeps,
  viewer: Viewer,
  { agentId, messageId }: { agentId: string; messageId: string },
): Promise<string[]> => {
  // An agent learns no more of another workspace's agent here than anywhere else.
  const message = await readMessage(deps, viewer, agentId, messageId)
  ensureMember(viewer)
  return (await viewReadable(deps, message, { remoteImages: false, part: 'hiddenText' })).hiddenText
}
