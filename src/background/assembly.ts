import type { Channels } from '../channel/channel.ts'
import type { Sink } from '../core/channel/inbound.ts'
import type { ChannelKind } from '../core/channels.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { type Led, Routine } from '../core/routine.ts'

const EVERY_MS = 1_000

interface AssemblyDeps {
  channels: Channels
  sinkOf(channel: ChannelKind): Sink
  clock: Clock
  log: Logger
}

/** Creates the routines that store messages whose parts arrive in separate calls, of the channels with such. */
export const createAssembly = ({ channels, sinkOf, clock, log, isOurs }: AssemblyDeps & Led): Routine[] =>
  Object.values(channels).flatMap((channel) =>
    channel.assemble
      ? new Routine(async (signal) => channel.assemble?.(sinkOf(channel.kind), signal), {
          everyMs: EVERY_MS,
          failed: 'could not store messages that arrived in parts; retrying',
          clock,
          log,
          isOurs,
        })
      : [],
  )
