import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'

/** A file that the browser saves. */
export interface Download {
  /** ASCII, without quotes. */
  name: string
  type: string
  content: ReadableStream<Uint8Array>
}

/** Sends a file as it is made. Rejects if it cannot be completed; the connection is then closed. */
export const sendDownload = async (
  response: ServerResponse,
  { name, type, content }: Download,
): Promise<void> => {
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  try {
    await pipeline(Readable.fromWeb(content as NodeStream), response)
  } catch (error) {
    // Nothing is wrong when the browser cancels.
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}
