import type { Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Address } from '../../db/generated/prisma/client.ts'

export interface ReleaseDeps {
  channels: Channels
  log: Logger
}

/**
 * Releases an address at its provider, before the address is deleted with the credentials that this takes. A
 * provider that cannot be reached must not prevent a deletion, so failures are only logged.
 */
export const releaseAddress = async (
  { channels, log }: ReleaseDeps,
  { id, channel, value }: Address,
): Promise<void> => {
  try {
    await channels[channel as ChannelKind]?.release?.({ id, value })
  } catch (error) {
    log.warn(
      { addressId: id, channel, error: messageOf(error) },
      'could not release an address at its provider',
    )
  }
}
