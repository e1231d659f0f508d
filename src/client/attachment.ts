import type { components } from './api.ts'
import { type AgentCall, type CallOptions, fill } from './call.ts'
import { AmsError } from './errors.ts'
import type { Http } from './http.ts'

type Stored = components['schemas']['Message']['attachments'][number]

/** A file of a message. */
export type Attachment = Stored & {
  /** Its content, as a stream. */
  open(options?: CallOptions): Promise<ReadableStream<Uint8Array>>
  bytes(options?: CallOptions): Promise<Uint8Array>
  /** A link that works without a token, for ten minutes. */
  link(options?: CallOptions): Promise<components['schemas']['AttachmentLink']>
  /** Its text, of documents too, whole: of a PDF, for example. Throws `invalid_input` for a file that has none. */
  text(options?: CallOptions): Promise<string>
}

/** The agent that a message belongs to. */
export interface Mailbox {
  http: Http
  call: AgentCall
  id(): Promise<string>
}

export const contentOf = async (box: Mailbox, rest: string, { signal }: CallOptions) =>
  box.http.content(fill('/agents/{id}', { id: await box.id() }) + rest, signal)

export const attachmentOf = (box: Mailbox, messageId: string, index: number, fields: Stored): Attachment => {
  const open = (options: CallOptions = {}) =>
    contentOf(box, fill('/messages/{messageId}/attachments/{index}', { messageId, index }), options)
  const page = (offset: number, options: CallOptions) =>
    box.call('get', '/agents/{id}/messages/{messageId}/attachments/{index}/text', {
      path: { messageId, index },
      query: { offset },
      ...options,
    })
  return {
    ...fields,
    open,
    text: async (options = {}) => {
      const texts: string[] = []
      for (let offset: number | null = 0; offset !== null; ) {
        const { text, nextOffset }: Awaited<ReturnType<typeof page>> = await page(offset, options)
        texts.push(text)
        offset = nextOffset ?? null
      }
      return texts.join('')
    },
    bytes: async (options) => new Uint8Array(await new Response(await open(options)).arrayBuffer()),
    link: (options) =>
      box.call('post', '/agents/{id}/messages/{messageId}/attachments/{index}/link', {
        path: { messageId, index },
        ...options,
      }),
  }
}

export const noAttachment = (): never => {
  throw new AmsError('not_found', 'There is no attachment with this number.')
}
