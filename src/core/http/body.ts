import type { IncomingMessage } from 'node:http'
import { invalidInput } from '../errors.ts'

/**
 * Body of a request that waits: it stays in memory meanwhile. A question that a tool asks, all of it escaped, takes 34,000 bytes.
 * @limit Requests
 */
export const MAX_HELD_BYTES = 40 * 1024

/** Throws `invalid_input` for a request whose body is too long to be kept while it waits. */
export const ensureHoldable = (bytes: number): void => {
  if (bytes > MAX_HELD_BYTES)
    throw invalidInput('body', `must be at most ${MAX_HELD_BYTES} bytes for a request that waits`)
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Returns whether a body is compressed, which no reader of bodies undoes: it would be taken for what it is not. */
export const isEncoded = (contentEncoding: string | undefined): boolean =>
  contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity'

/** The words about a body that is compressed. */
export const encodedBody = () => invalidInput('body', 'must have no Content-Encoding')

/** Reads a body; returns null as soon as it is longer than `max` bytes, without reading the rest. */
export const readUpTo = async (
  body: AsyncIterable<Uint8Array> | null,
  max: number,
): Promise<Buffer<ArrayBuffer> | null> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > max) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}
