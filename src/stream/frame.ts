import { type LoggedEvent, presentEvent, type Truncated } from '../event/index.ts'

/** The first frame: tells clients to wait 3 s before they reconnect. */
export const OPENING = 'retry: 3000\n\n'
export const HEARTBEAT = ': heartbeat\n\n'
export const REPLACED = 'event: replaced\ndata: {}\n\n'

/** The id is that of the last deleted event, so that a client which reconnects now continues after it. */
export const truncatedFrame = ({ nextId }: Truncated): string =>
  `id: ${nextId - 1}\nevent: truncated\ndata: ${JSON.stringify({ nextId })}\n\n`

/** Moves a client's position without an event: a frame without data only sets the id to resume after. */
export const positionFrame = (position: number): string => `id: ${position}\n\n`

/** Returns an event as a frame of `text/event-stream`. */
export const eventFrame = (event: LoggedEvent): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`
