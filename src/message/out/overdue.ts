import type { ChannelKind, Channels } from '../../channel/channel.ts'
import { type DeliveryDeps, takeReport } from './delivery.ts'

export interface OverdueDeps extends DeliveryDeps {
  channels: Channels
}

/** How long a provider's report is awaited before it is asked. */
const PATIENCE_MS = 10 * 60_000
/** Asked in one go. */
const MAX = 100

const findOverdue = ({ prisma, clock }: OverdueDeps) =>
  prisma.recipient.findMany({
    // To the letter what `recipient_awaited_idx` is for.
    where: {
      status: 'sending',
      providerId: { not: null },
      updatedAt: { lt: new Date(clock.now().getTime() - PATIENCE_MS) },
    },
    include: { message: { select: { channel: true } } },
    orderBy: { updatedAt: 'asc' },
    take: MAX,
  })
type Overdue = Awaited<ReturnType<typeof findOverdue>>[number]

/** Asks what became of one, and notes that it was asked. Whether it has come to an end. */
const ask = async (
  deps: OverdueDeps,
  { messageId, address, providerId, message }: Overdue,
): Promise<boolean> => {
  const channel = message.channel as ChannelKind
  const said = await deps.channels[channel]?.ask?.(providerId!)
  if (said)
    await takeReport(deps, { channel, providerId: providerId!, messageId, recipient: address, ...said })
  else
    await deps.prisma.recipient.updateMany({
      where: { messageId, address },
      data: { updatedAt: deps.clock.now() },
    })
  return Boolean(said)
}

/**
 * Asks the providers for reports that did not come: the service could not be reached perhaps, or was down for
 * too long. Any process may do so at any time. Returns how many messages moved on; throws when a provider
 * can't be asked, and leaves the rest for the next time.
 */
export const requestOverdueReports = async (deps: OverdueDeps, signal: AbortSignal): Promise<number> => {
  let moved = 0
  for (const recipient of await findOverdue(deps)) {
    if (signal.aborted) break
    if (await ask(deps, recipient)) moved++
  }
  return moved
}
