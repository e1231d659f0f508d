import { type LoggedEvent, presentEvent } from '../event/event.ts'
import type { Truncated } from '../event/feed.ts'

/** How long a client waits before it reconnects. */
export const OPENING = 'retry: 3000\n\n'
export const HEARTBEAT = ': heartbeat\n\n'
export const REPLACED = 'event: replaced\ndata: {}\n\n'

/** The id is the last one that is gone, so that a client which reconnects now goes on after it. */
export const truncatedFrame = ({ nextId }: Truncated): string =>
  `id: ${nextId - 1}\nevent: truncated\ndata: ${JSON.stringify({ nextId })}\n\n`

/** An event as `text/event-stream` has it. */
export const eventFrame = (event: LoggedEvent): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`
