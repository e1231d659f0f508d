import type { Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { type DeliveryDeps, takeReport } from './delivery.ts'

export interface OverdueDeps extends DeliveryDeps {
  channels: Channels
}

/** Time to wait for a provider's report before querying it, in milliseconds. */
const PATIENCE_MS = 10 * 60_000
/** Maximum number of recipients queried in one run. */
const MAX = 100

const findOverdue = ({ prisma, clock }: OverdueDeps) =>
  prisma.recipient.findMany({
    // Must match the predicate of `recipient_awaited_idx` exactly.
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

/**
 * Queries the provider for one recipient and records that it did. Returns whether there was a final status.
 */
const queryProvider = async (
  deps: OverdueDeps,
  { messageId, agentId, address, providerId, message }: Overdue,
): Promise<boolean> => {
  const channel = message.channel as ChannelKind
  const result = await deps.channels[channel]?.ask?.(providerId!)
  if (result)
    await takeReport(deps, { channel, providerId: providerId!, messageId, recipient: address, ...result })
  else
    await deps.prisma.recipient.updateMany({
      where: { messageId, agentId, address },
      data: { updatedAt: deps.clock.now() },
    })
  return Boolean(result)
}

/**
 * Queries the providers for reports that did not arrive, for example because the service was unreachable or
 * down for too long. Any process may do so at any time. Returns the number of recipients with a final status.
 * Throws when a provider cannot be queried, and leaves the rest for the next run.
 */
export const requestOverdueReports = async (deps: OverdueDeps, signal: AbortSignal): Promise<number> => {
  let moved = 0
  for (const recipient of await findOverdue(deps)) {
    if (signal.aborted) break
    if (await queryProvider(deps, recipient)) moved++
  }
  return moved
}
