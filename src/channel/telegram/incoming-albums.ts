import type { Sink } from '../../core/channel/inbound.ts'
import type { Logger } from '../../core/logger.ts'
import type { Bot, BotStore } from './bots.ts'
import type { FileToFetch } from './content.ts'
import type { Fetched } from './files.ts'
import { toInbound } from './inbound.ts'
import type { Messages, TelegramMessage } from './update.ts'

/** The parts of an album that become one message. */
export interface Album {
  addressId: string
  chatId: number
  /** Telegram's `media_group_id`. */
  groupId: string
  /** Identifies these parts, also when they are claimed again after a crash. */
  batchId: string
  messages: Messages
  /** Ids of the album's messages that were stored before these came. */
  earlier: number[]
}

/**
 * The channel's access to the albums whose parts wait for each other. Any number of processes may add and
 * claim.
 */
export interface AlbumStore {
  /** Resolves once the message is committed. One that was added before is not added again. */
  add(addressId: string, groupId: string, message: TelegramMessage): Promise<void>
  /** Leases an album that is complete, as far as can be known; null if there is none. */
  claim(leaseMs: number): Promise<Album | null>
  /** Leases it for this long from now. */
  lease(album: Album, ms: number): Promise<void>
  /** Records that its message is committed. */
  stored(album: Album): Promise<void>
}

/** Longer than the queue and all attempts to fetch one file (see files.ts): it is renewed before each. */
const LEASE_MS = 90_000
const RETRY_MS = 10_000

export interface AlbumOptions {
  albums: AlbumStore
  bots: BotStore
  fetch(bot: Bot, file: FileToFetch, signal: AbortSignal): Promise<Fetched>
  log: Logger
}

class Interrupted extends Error {}

/**
 * Stores the albums that are complete, each as one message. After a crash an album is claimed again; a message
 * that was committed already is then recognised by the id of its delivery.
 */
export const storeAlbums = async (options: AlbumOptions, sink: Sink, signal: AbortSignal): Promise<void> => {
  const { albums, bots, fetch, log } = options
  const store = async (album: Album): Promise<void> => {
    const bot = await bots.behind(album.addressId)
    const inbound =
      bot &&
      (await toInbound(album.messages, bot, {
        id: `album/${album.batchId}`,
        earlier: album.earlier,
        fetch: async (file) => {
          await albums.lease(album, LEASE_MS)
          const fetched = await fetch(bot, file, signal)
          if (signal.aborted) throw new Interrupted('the service stops')
          return fetched
        },
      }))
    if (inbound) await sink.inbound(inbound)
    else log.debug({ addressId: album.addressId }, 'Telegram album ignored')
    await albums.stored(album)
  }
  while (!signal.aborted) {
    const album = await albums.claim(LEASE_MS)
    if (!album) return
    try {
      await store(album)
    } catch (error) {
      await albums.lease(album, error instanceof Interrupted ? 0 : RETRY_MS)
      if (!(error instanceof Interrupted)) throw error
    }
  }
}
