import type { components, operations } from './api.ts'
import { type Attachment, attachmentOf, contentOf, type Mailbox, noAttachment } from './attachment.ts'
import { type BodyOf, type CallOptions, fill, type QueryOf } from './call.ts'
import { AmsError } from './errors.ts'
import { List } from './list.ts'
import type { Event } from './stream.ts'

type Stored = components['schemas']['Message']
type SendBody = BodyOf<operations['sendMessage']>
/** A text, or for an email HTML, from which the service makes the text. */
type Content = { text: string } | { html: string }
export type Send = SendBody & Content
type Edits = BodyOf<operations['approveMessage']>
export type Marks = BodyOf<operations['markMessage']>
type Reply = Omit<SendBody, 'replyTo' | 'forward' | 'channel'> & Content
type Forward = Omit<SendBody, 'replyTo' | 'forward' | 'channel' | 'to'> & Content

export interface SendOptions extends CallOptions {
  /**
   * The idempotency key of the request, which is random by default. With one of your own, the same request
   * sends nothing a second time within 24 hours, also not from another process.
   */
  key?: string | undefined
}

/** `remoteImages`: whether images on other servers are shown, which tells these that the mail is read. */
interface Images {
  remoteImages?: boolean | undefined
}

/** A message as the API describes it, with what can be done with it. */
export type Message = Omit<Stored, 'channel' | 'addressId' | 'threadId' | 'conversation' | 'attachments'> & {
  /** `url`: sent to the agent's Message URL; the service does not store it. */
  channel: Stored['channel'] | 'url'
  /** Null on the channel `url`. */
  addressId: string | null
  /** Null on the channel `url`. */
  threadId: string | null
  /** The agent's own key of the thread: `conversation` of the API. */
  conversationKey: string | null
  attachments: Attachment[]
  /** One of its files, from 0. Throws `not_found` if there is none. */
  attachment(index: number): Attachment
  /** Replies in the same thread, to whoever the message is from unless `to` says otherwise. */
  reply(content: string | Reply, options?: SendOptions): Promise<Message>
  /** Passes the message on with its text and attachments. */
  forward(to: string | string[], content: string | Forward, options?: SendOptions): Promise<Message>
  /** The email as it was received, byte for byte. */
  raw(options?: CallOptions): Promise<ReadableStream<Uint8Array>>
  /** A received email's HTML as a page without scripts, for an `<iframe sandbox>`. */
  html(options?: Images & CallOptions): Promise<string>
  /** A received email's header fields, in order. */
  headers(options?: CallOptions): Promise<components['schemas']['HeaderField'][]>
  /** What was left out of a received email's text because people do not see it. Members only. */
  hiddenText(options?: CallOptions): Promise<components['schemas']['HiddenText']>
  /** Links to the HTML and to the original email that work without a token, for ten minutes. */
  htmlLink(options?: Images & CallOptions): Promise<components['schemas']['AttachmentLink']>
  rawLink(options?: CallOptions): Promise<components['schemas']['AttachmentLink']>
  /** Sets its labels or metadata, or marks it as read or unread. Replying marks it as read. */
  mark(marks: Marks, options?: CallOptions): Promise<Message>
  /** Lets a refused message in; with `listSender`, its sender's next messages too. */
  release(options?: { listSender?: boolean } & CallOptions): Promise<Message>
  /** Approves a message that waits for a member's approval, with changes if any are given. Members only. */
  approve(edits?: Edits, options?: CallOptions): Promise<Message>
  /** Rejects a message that waits for a member's approval. Members only. */
  reject(reason?: string, options?: CallOptions): Promise<Message>
  /** Cancels a message that waits for approval or for its time. */
  cancel(options?: CallOptions): Promise<Message>
  /** Unsubscribes from what a received email belongs to, if its check `unsubscribe` says that it can be. */
  unsubscribe(options?: CallOptions): Promise<Message>
  /** Deletes it with its files. If it waits to be sent, it is not sent any more. */
  delete(options?: CallOptions): Promise<void>
  /** The messages of its thread, newest first. */
  conversation(options?: CallOptions): List<Message>
  /** The recipients of a sent message, each with its status. */
  recipients(options?: CallOptions): Promise<components['schemas']['Recipient'][]>
}

export const exportOf = (box: Mailbox, options: CallOptions) => contentOf(box, '/export', options)

export const send = async (box: Mailbox, body: Send, options?: SendOptions): Promise<Message> =>
  messageOf(box, await box.call('post', '/agents/{id}/messages', { body, ...options }))

type Filter = Omit<QueryOf<operations['listMessages']>, 'cursor' | 'since' | 'until'> & {
  since?: string | Date | undefined
  until?: string | Date | undefined
}
export type ListOptions = Filter & CallOptions

/** The query parameters of a list of messages. */
export const queryOf = ({ since, until, ...filter }: Filter) => {
  const text = (time: string | Date | undefined) => (time instanceof Date ? time.toISOString() : time)
  const times = { since: text(since), until: text(until) }
  return { ...filter, ...(times as { since?: string; until?: string }) }
}

export const list = (box: Mailbox, { signal, ...filter }: ListOptions): List<Message> => {
  const query = queryOf(filter)
  return new List(async (cursor) => {
    const page = await box.call('get', '/agents/{id}/messages', {
      query: cursor === undefined ? query : { ...query, cursor },
      signal,
    })
    return { ...page, items: page.items.map((fields) => messageOf(box, fields)) }
  })
}

const withText = <Given extends Content>(content: string | Given): Given | { text: string } =>
  typeof content === 'string' ? { text: content } : content

export const messageOf = (box: Mailbox, fields: Stored): Message => {
  const path = { messageId: fields.id }
  const attachments = fields.attachments.map((one, index) => attachmentOf(box, fields.id, index, one))
  const changed = async (call: Promise<Stored>) => messageOf(box, await call)
  return {
    ...fields,
    conversationKey: fields.conversation,
    attachments,
    attachment: (index) => attachments[index] ?? noAttachment(),
    reply: (content, options) => send(box, { ...withText(content), replyTo: fields.id }, options),
    forward: (to, content, options) =>
      send(box, { ...withText(content), to: [to].flat(), forward: fields.id }, options),
    raw: (options = {}) => contentOf(box, fill('/messages/{messageId}/raw', path), options),
    ...viewsOf(box, fields.id),
    mark: (marks, options) =>
      changed(box.call('patch', '/agents/{id}/messages/{messageId}', { path, body: marks, ...options })),
    release: ({ listSender, ...options } = {}) => {
      const body = listSender === undefined ? {} : { listSender }
      return changed(
        box.call('post', '/agents/{id}/messages/{messageId}/release', { path, body, ...options }),
      )
    },
    approve: (body = {}, options) =>
      changed(box.call('post', '/agents/{id}/messages/{messageId}/approve', { path, body, ...options })),
    reject: (reason, options) => {
      const body = reason === undefined ? {} : { reason }
      return changed(box.call('post', '/agents/{id}/messages/{messageId}/reject', { path, body, ...options }))
    },
    cancel: (options) =>
      changed(box.call('post', '/agents/{id}/messages/{messageId}/cancel', { path, ...options })),
    unsubscribe: (options) =>
      changed(box.call('post', '/agents/{id}/messages/{messageId}/unsubscribe', { path, ...options })),
    delete: async (options) => {
      await box.call('delete', '/agents/{id}/messages/{messageId}', { path, ...options })
    },
    conversation: (options) => list(box, { thread: fields.id, ...options }),
    recipients: (options) =>
      box.call('get', '/agents/{id}/messages/{messageId}/recipients', { path, ...options }),
  }
}

/** What a mail client shows of an email besides its text. */
const viewsOf = (
  box: Mailbox,
  messageId: string,
): Pick<Message, 'html' | 'headers' | 'hiddenText' | 'htmlLink' | 'rawLink'> => ({
  html: async ({ remoteImages = false, ...options } = {}) => {
    const path = fill('/messages/{messageId}/html', { messageId })
    const query = remoteImages ? '?remoteImages=true' : ''
    return new Response(await contentOf(box, path + query, options)).text()
  },
  headers: (options) =>
    box.call('get', '/agents/{id}/messages/{messageId}/headers', { path: { messageId }, ...options }),
  hiddenText: (options) =>
    box.call('get', '/agents/{id}/messages/{messageId}/hidden-text', { path: { messageId }, ...options }),
  htmlLink: ({ remoteImages = false, ...options } = {}) =>
    box.call('post', '/agents/{id}/messages/{messageId}/html/link', {
      path: { messageId },
      body: { remoteImages },
      ...options,
    }),
  rawLink: (options) =>
    box.call('post', '/agents/{id}/messages/{messageId}/raw/link', { path: { messageId }, ...options }),
})

const notStored = (what: string, { sender }: Event) => {
  const hint = sender.kind === 'agent' ? ` agent.sendToUrl('${sender.id}', …) reaches its sender.` : ''
  return new AmsError(
    'not_stored',
    `A message to the Message URL is not stored and cannot be ${what}.${hint}`,
  )
}

/** A message to the Message URL: all that exists of it is the event. */
export const messageOfUrl = (event: Event): Message => {
  const { messageId: id, sender, createdAt, text = '' } = event
  const refuse = (what: string) => async (): Promise<never> => {
    throw notStored(what, event)
  }
  return {
    id,
    channel: 'url',
    addressId: null,
    direction: 'inbound',
    counterpart: sender.email ?? sender.phone ?? sender.id ?? '',
    counterpartName: sender.name,
    to: [],
    cc: [],
    bcc: [],
    subject: null,
    text,
    replyText: text,
    segments: null,
    attachments: [],
    attachment: noAttachment,
    codes: [],
    thread: null,
    threadId: null,
    conversationKey: null,
    addressed: null,
    status: 'received',
    refusal: null,
    admission: null,
    mayInstruct: event.mayInstruct,
    error: null,
    checks: [],
    labels: [],
    readAt: null,
    metadata: {},
    hold: null,
    sentBy: null,
    createdAt,
    reply: refuse('replied to'),
    forward: refuse('forwarded'),
    raw: refuse('read again'),
    html: refuse('read again'),
    headers: async () => [],
    hiddenText: refuse('read again'),
    htmlLink: refuse('linked'),
    rawLink: refuse('linked'),
    mark: refuse('marked'),
    release: refuse('released'),
    approve: refuse('approved'),
    reject: refuse('rejected'),
    cancel: refuse('cancelled'),
    unsubscribe: refuse('unsubscribed from'),
    delete: refuse('deleted'),
    conversation: () => new List<Message>(refuse('part of a conversation')),
    recipients: async () => [],
  }
}
