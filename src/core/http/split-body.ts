import { PassThrough } from 'node:stream'
import { drained } from './drained.ts'

/**
 * Returns a body several times, as it arrives and at the pace of the slowest reader. Readers that have closed theirs are not waited
 * for. If it breaks off, all break off; once nobody reads, the rest is left unread.
 */
export const splitBody = (body: AsyncIterable<Uint8Array>, count: number): PassThrough[] => {
  const readers = Array.from({ length: count }, () => new PassThrough().on('error', () => undefined))
  const pass = async () => {
    for await (const part of body) {
      const open = readers.filter(({ writable }) => writable)
      if (open.length === 0) return
      for (const reader of open) reader.write(part)
      await Promise.all(open.map(drained))
    }
    for (const reader of readers) reader.end()
  }
  pass().catch((error: Error) => {
    for (const reader of readers) reader.destroy(error)
  })
  return readers
}
