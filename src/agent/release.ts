import type { ChannelKind, Channels } from '../channel/channel.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Address } from '../db/generated/prisma/client.ts'

export interface ReleaseDeps {
  channels: Channels
  log: Logger
}

/**
 * Tells the provider of an address that it is given up, before it is deleted with what the provider must be
 * told with. A provider that can't be told must not keep anybody from deleting what is theirs: that is in the
 * log.
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
      'the provider could not be told that an address is given up',
    )
  }
}
