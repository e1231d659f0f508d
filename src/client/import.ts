import type { components } from './api.ts'
import { type CallOptions, fill } from './call.ts'
import type { Source } from './stream.ts'

/** A mail or a mailbox: whole, or a function that opens it, again for each attempt. */
export type MailContent = string | Uint8Array<ArrayBuffer> | Blob | (() => ReadableStream<Uint8Array>)

export interface ImportOptions extends CallOptions {
  /** What it is: one mail, or a mailbox in the format mbox. */
  type: 'message/rfc822' | 'application/mbox'
  /** Called with the number of bytes that were sent: at the pace at which the mails are stored. */
  onProgress?: ((bytes: number) => void) | undefined
}

const counted = (stream: ReadableStream<Uint8Array>, onProgress: (bytes: number) => void) => {
  let bytes = 0
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength
        controller.enqueue(chunk)
        onProgress(bytes)
      },
    }),
  )
}

/** What to send; browsers send a Blob, but not all of them a stream. */
const bodyOf = (content: MailContent, onProgress: ImportOptions['onProgress']) => {
  const whole = typeof content === 'function' ? content() : new Blob([content])
  if (!onProgress) return whole
  return counted(whole instanceof Blob ? whole.stream() : whole, onProgress)
}

export const importMails = async (
  { http, id }: Source,
  content: MailContent,
  { type, onProgress, signal }: ImportOptions,
): Promise<components['schemas']['Import']> =>
  (await http.json({
    method: 'POST',
    path: fill('/agents/{id}/imports', { id: await id() }),
    content: { type, body: () => bodyOf(content, onProgress) },
    signal,
  })) as components['schemas']['Import']
