import type { components, operations } from './api.ts'
import type { AgentCall, BodyOf, CallOptions, QueryOf } from './call.ts'
import { List } from './list.ts'

/** What belongs to an agent besides its messages. Each function is one operation of the API. */

type Schemas = components['schemas']
type Channel = keyof Schemas['AccessByChannel']

export const secretsOf = (call: AgentCall) => ({
  /** Names only, never values. */
  list: (options?: CallOptions) => call('get', '/agents/{id}/secrets', { ...options }),
  set: (name: string, value: string, options?: CallOptions) =>
    call('put', '/agents/{id}/secrets/{name}', { path: { name }, body: { value }, ...options }),
  delete: (name: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/secrets/{name}', { path: { name }, ...options }),
  /** The values by name: of all secrets, or of those named. Only the agent's own token can. */
  reveal: (names?: string[], options?: CallOptions) =>
    call('post', '/agents/{id}/secrets/reveal', { body: names ? { names } : {}, ...options }),
})

type ThreadFilter = Omit<QueryOf<operations['listThreads']>, 'cursor'>

/** Conversations; notes are for members. */
export const threadsOf = (call: AgentCall) => ({
  list: ({ signal, ...filter }: ThreadFilter & CallOptions = {}) =>
    new List<Schemas['Thread']>((cursor) =>
      call('get', '/agents/{id}/threads', {
        query: cursor === undefined ? filter : { ...filter, cursor },
        signal,
      }),
    ),
  read: (threadId: string, options?: CallOptions) =>
    call('get', '/agents/{id}/threads/{threadId}', { path: { threadId }, ...options }),
  /** Who wrote what, newest first, within so many tokens. */
  transcript: (threadId: string, { tokens, ...options }: { tokens?: number } & CallOptions = {}) =>
    call('get', '/agents/{id}/threads/{threadId}/transcript', {
      path: { threadId },
      query: tokens === undefined ? {} : { tokens },
      ...options,
    }),
  update: (threadId: string, changes: BodyOf<operations['updateThread']>, options?: CallOptions) =>
    call('patch', '/agents/{id}/threads/{threadId}', { path: { threadId }, body: changes, ...options }),
  /** All of up to 100 threads, or none. */
  updateMany: (ids: string[], changes: BodyOf<operations['updateThread']>, options?: CallOptions) =>
    call('patch', '/agents/{id}/threads', { body: { ids, ...changes }, ...options }),
  notes: (threadId: string, options?: CallOptions) =>
    call('get', '/agents/{id}/threads/{threadId}/notes', { path: { threadId }, ...options }),
  addNote: (threadId: string, text: string, options?: CallOptions) =>
    call('post', '/agents/{id}/threads/{threadId}/notes', { path: { threadId }, body: { text }, ...options }),
  deleteNote: (threadId: string, noteId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/threads/{threadId}/notes/{noteId}', {
      path: { threadId, noteId },
      ...options,
    }),
})

export const accessOf = (call: AgentCall) => ({
  read: (options?: CallOptions) => call('get', '/agents/{id}/access', { ...options }),
  set: (channel: Channel, access: BodyOf<operations['setAccess']>, options?: CallOptions) =>
    call('put', '/agents/{id}/access/{channel}', { path: { channel }, body: access, ...options }),
  /** Adds one sender to those that the channel admits. */
  allow: (channel: Channel, sender: string, options?: CallOptions) =>
    call('post', '/agents/{id}/access/{channel}/senders', {
      path: { channel },
      body: { sender },
      ...options,
    }),
  disallow: (channel: Channel, sender: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/access/{channel}/senders/{sender}', {
      path: { channel, sender },
      ...options,
    }),
  /** Refuses a sender in any case. */
  block: (channel: Channel, sender: string, options?: CallOptions) =>
    call('post', '/agents/{id}/access/{channel}/blocked', {
      path: { channel },
      body: { sender },
      ...options,
    }),
  unblock: (channel: Channel, sender: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/access/{channel}/blocked/{sender}', {
      path: { channel, sender },
      ...options,
    }),
})

export const addressesOf = (call: AgentCall) => ({
  list: (options?: CallOptions) => call('get', '/agents/{id}/addresses', { ...options }),
  change: (addressId: string, change: BodyOf<operations['changeAddress']>, options?: CallOptions) =>
    call('patch', '/agents/{id}/addresses/{addressId}', { path: { addressId }, body: change, ...options }),
  remove: (addressId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/addresses/{addressId}', { path: { addressId }, ...options }),
  /** The link where a member sets up an address on this channel. */
  setUp: (channel: BodyOf<operations['setUpAddress']>['channel'], options?: CallOptions) =>
    call('post', '/agents/{id}/addresses/setups', { body: { channel }, ...options }),
})

export const tokensOf = (call: AgentCall) => ({
  list: (options?: CallOptions) => call('get', '/agents/{id}/tokens', { ...options }),
  /** The only response that contains the token itself. */
  create: (token: BodyOf<operations['createToken']>, options?: CallOptions) =>
    call('post', '/agents/{id}/tokens', { body: token, ...options }),
  revoke: (tokenId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/tokens/{tokenId}', { path: { tokenId }, ...options }),
})

export const suppressionsOf = (call: AgentCall) => ({
  list: ({ signal }: CallOptions = {}) =>
    new List<Schemas['Suppression']>((cursor) =>
      call('get', '/agents/{id}/suppressions', { query: cursor === undefined ? {} : { cursor }, signal }),
    ),
  remove: (recipient: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/suppressions/{recipient}', { path: { recipient }, ...options }),
})

/** Messages that the agent and members are writing. */
export const draftsOf = (call: AgentCall) => ({
  list: ({ signal }: CallOptions = {}) =>
    new List<Schemas['Draft']>((cursor) =>
      call('get', '/agents/{id}/drafts', { query: cursor === undefined ? {} : { cursor }, signal }),
    ),
  create: (draft: BodyOf<operations['createDraft']>, options?: CallOptions) =>
    call('post', '/agents/{id}/drafts', { body: draft, ...options }),
  read: (draftId: string, options?: CallOptions) =>
    call('get', '/agents/{id}/drafts/{draftId}', { path: { draftId }, ...options }),
  update: (draftId: string, changes: BodyOf<operations['updateDraft']>, options?: CallOptions) =>
    call('patch', '/agents/{id}/drafts/{draftId}', { path: { draftId }, body: changes, ...options }),
  delete: (draftId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/drafts/{draftId}', { path: { draftId }, ...options }),
  /** The draft ends, and becomes the message that is returned. */
  send: (draftId: string, options?: CallOptions) =>
    call('post', '/agents/{id}/drafts/{draftId}/send', { path: { draftId }, ...options }),
})

type WebhookOptions = Omit<BodyOf<operations['addWebhook']>, 'url'>
type DeliveryFilter = Omit<QueryOf<operations['listDeliveries']>, 'cursor'>

export const webhooksOf = (call: AgentCall) => ({
  list: (options?: CallOptions) => call('get', '/agents/{id}/webhooks', { ...options }),
  /** The response contains the secret that its deliveries are signed with. */
  add: (url: string, { signal, ...more }: WebhookOptions & CallOptions = {}) =>
    call('post', '/agents/{id}/webhooks', { body: { url, ...more }, signal }),
  /** Changes its name or the types of its events, or pauses or resumes it. */
  update: (webhookId: string, changes: BodyOf<operations['updateWebhook']>, options?: CallOptions) =>
    call('patch', '/agents/{id}/webhooks/{webhookId}', { path: { webhookId }, body: changes, ...options }),
  remove: (webhookId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/webhooks/{webhookId}', { path: { webhookId }, ...options }),
  /** A new secret; the previous one also signs for 24 hours. */
  rotate: (webhookId: string, options?: CallOptions) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/rotate', { path: { webhookId }, ...options }),
  test: (webhookId: string, options?: CallOptions) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/test', { path: { webhookId }, ...options }),
  /** Delivers the events after a position again. */
  replay: (webhookId: string, body: BodyOf<operations['replayWebhook']>, options?: CallOptions) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/replay', { path: { webhookId }, body, ...options }),
  /** Resends, with retries, the events that were given up, of those that happened since a time. */
  resendGivenUp: (webhookId: string, since: string | Date, options?: CallOptions) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/resend', {
      path: { webhookId },
      body: { since: since instanceof Date ? since.toISOString() : since },
      ...options,
    }),
  deliveries: (webhookId: string, { signal, ...filter }: DeliveryFilter & CallOptions = {}) =>
    new List<Schemas['Delivery']>((cursor) =>
      call('get', '/agents/{id}/webhooks/{webhookId}/deliveries', {
        path: { webhookId },
        query: cursor === undefined ? filter : { ...filter, cursor },
        signal,
      }),
    ),
  /** A delivery with its request and the responses. */
  delivery: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call('get', '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}', {
      path: { webhookId, deliveryId },
      ...options,
    }),
  resend: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend', {
      path: { webhookId, deliveryId },
      ...options,
    }),
  /** Sends the delivery that all others wait for again now, or skips it. */
  unblock: (
    webhookId: string,
    deliveryId: string,
    body: BodyOf<operations['unblockWebhook']>,
    options?: CallOptions,
  ) =>
    call('post', '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/unblock', {
      path: { webhookId, deliveryId },
      ...{ body, ...options },
    }),
})
