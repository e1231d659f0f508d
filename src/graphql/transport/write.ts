import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedEncoding } from '../../core/http/encoding.ts'
import type { Answer } from './answer.ts'

/** A shorter answer fits into a packet as it is. */
const MIN_BYTES = 1_024

/** Outside of the main thread, and fast rather than small: at most as long as the answer took to make. */
const COMPRESS = {
  br: (bytes: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Buffer): Promise<Buffer> => promisify(gzip)(bytes),
}

/**
 * Writes an answer, compressed if the client accepts that. Its length tells other sites nothing: their pages cannot
 * make requests with a session (`credentialOf`).
 */
export const writeAnswer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
): Promise<void> => {
  const plain = Buffer.from(body)
  const encoding =
    plain.length < MIN_BYTES ? null : acceptedEncoding(request.headers['accept-encoding'], ['br', 'gzip'])
  const bytes = encoding ? await COMPRESS[encoding](plain) : plain
  response
    .writeHead(status, {
      ...headers,
      ...(encoding ? { 'Content-Encoding': encoding } : {}),
      'Content-Length': bytes.length,
      Vary: 'Accept-Encoding',
    })
    .end(bytes)
}
