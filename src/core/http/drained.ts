import type { Writable } from 'node:stream'

/** Resolves when a stream takes more, or is closed. */
export const drained = async (stream: Writable): Promise<void> => {
  if (stream.closed || !stream.writableNeedDrain) return
  await new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}
