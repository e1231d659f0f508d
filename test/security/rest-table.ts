import { randomUUID } from 'node:crypto'

/** Ids of a target by the names that the paths of routes have for them. */
export type Ids = Record<string, string>

/**
 * Who may do what, for every route of the API description: a route without a row fails. Without a valid token
 * every route is 401; for tokens of another workspace every route with an id is 404, with the same bytes as for
 * an unknown id; for another agent of the same workspace a route is 403 unless its row says otherwise.
 */
export interface Row {
  member: number
  agent: number
  peer?: number
  body?: unknown
  /** Query string that the route requires. */
  query?: string
}

export const TABLE: Record<string, Row> = {
  'GET /viewer': { member: 200, agent: 200, peer: 200 },
  'GET /workspace': { member: 200, agent: 200, peer: 200 },
  'PATCH /workspace': { member: 200, agent: 403, body: {} },
  'DELETE /workspace': { member: 200, agent: 403 },
  'POST /workspace/restore': { member: 200, agent: 403 },
  'GET /export': { member: 200, agent: 403 },
  'GET /agents/{id}/export': { member: 200, agent: 200 },
  'GET /audit': { member: 200, agent: 403 },
  'GET /counts': { member: 200, agent: 403 },
  'GET /agents/{id}/counts': { member: 200, agent: 200 },
  'GET /messages': { member: 200, agent: 403 },
  'GET /members': { member: 200, agent: 403 },
  'PATCH /members/me': { member: 200, agent: 403, body: {} },
  'PATCH /members/{memberId}': { member: 200, agent: 403, body: { role: 'member' } },
  'DELETE /members/{memberId}': { member: 204, agent: 403 },
  'POST /members/invitations': {
    member: 201,
    agent: 403,
    body: () => ({ email: `${randomUUID()}@example.com` }),
  },
  'GET /members/invitations': { member: 200, agent: 403 },
  'DELETE /members/invitations/{invitationId}': { member: 204, agent: 403 },
  'GET /members/me/identities': { member: 200, agent: 403 },
  'POST /members/me/identities': { member: 409, agent: 403, body: { channel: 'sms', value: '+15551234567' } },
  'POST /members/me/identities/telegram': { member: 409, agent: 403, body: {} },
  'POST /members/me/identities/verify': { member: 400, agent: 403, body: { channel: 'sms', code: '000000' } },
  // The channel of the target has no identities.
  'DELETE /members/me/identities/{channel}/{value}': { member: 400, agent: 400, peer: 400 },
  // This service has no SMS: a request that passes authorization is a conflict.
  'GET /phone-numbers': { member: 200, agent: 403 },
  'GET /phone-numbers/available': { member: 409, agent: 403, query: 'country=US' },
  'POST /phone-numbers': { member: 409, agent: 403, body: { value: '+15005550101' } },
  'DELETE /phone-numbers/{phoneNumberId}': { member: 409, agent: 403 },
  'GET /domains': { member: 200, agent: 403 },
  'POST /domains': { member: 201, agent: 403, body: () => ({ name: `${randomUUID()}.example` }) },
  'GET /domains/{domainId}': { member: 200, agent: 403 },
  'POST /domains/{domainId}/verify': { member: 200, agent: 403 },
  'PATCH /domains/{domainId}': { member: 200, agent: 403, body: { catchAllAgentId: null } },
  'DELETE /domains/{domainId}': { member: 204, agent: 403 },
  'POST /tokens': { member: 201, agent: 403, body: {} },
  'GET /tokens': { member: 200, agent: 403 },
  // The token of the target belongs to the agent, but members find only their own tokens here.
  'DELETE /tokens/{tokenId}': { member: 404, agent: 403 },
  'GET /connected-apps': { member: 200, agent: 403 },
  'DELETE /connected-apps/{appId}': { member: 204, agent: 403 },
  'POST /agents': { member: 201, agent: 201, peer: 201, body: { name: 'New', icon: 'bot' } },
  'GET /agents': { member: 200, agent: 200, peer: 200 },
  'GET /agents/{id}': { member: 200, agent: 200 },
  'PATCH /agents/{id}': { member: 200, agent: 200, body: { name: 'Renamed' } },
  'DELETE /agents/{id}': { member: 204, agent: 204 },
  'GET /agents/{id}/addresses': { member: 200, agent: 200 },
  'PATCH /agents/{id}/addresses/{addressId}': {
    member: 200,
    agent: 200,
    body: () => ({ value: `${randomUUID()}@agents.localhost` }),
  },
  'DELETE /agents/{id}/addresses/{addressId}': { member: 409, agent: 409 },
  'POST /agents/{id}/addresses/setups': { member: 201, agent: 201, body: { channel: 'telegram' } },
  'GET /agents/{id}/access': { member: 200, agent: 200 },
  'PUT /agents/{id}/access/{channel}': { member: 200, agent: 200, body: { senders: [] } },
  'POST /agents/{id}/access/{channel}/senders': {
    member: 200,
    agent: 200,
    body: { sender: 'bo@example.com' },
  },
  'DELETE /agents/{id}/access/{channel}/senders/{sender}': { member: 204, agent: 204 },
  'POST /agents/{id}/access/{channel}/blocked': {
    member: 200,
    agent: 200,
    body: { sender: 'bo@example.com' },
  },
  'DELETE /agents/{id}/access/{channel}/blocked/{sender}': { member: 204, agent: 204 },
  'POST /agents/{id}/tokens': { member: 201, agent: 403, body: {} },
  'GET /agents/{id}/tokens': { member: 200, agent: 200 },
  'DELETE /agents/{id}/tokens/{tokenId}': { member: 204, agent: 204 },
  'PUT /agents/{id}/connection': { member: 403, agent: 200, body: { client: 'c', machine: 'm' } },
  'GET /agents/{id}/connections/{connectionId}/events': { member: 403, agent: 200 },
  'GET /agents/{id}/listeners': { member: 200, agent: 200 },
  'GET /agents/{id}/events': { member: 200, agent: 200 },
  'POST /agents/{id}/messages': {
    member: 201,
    agent: 201,
    body: { channel: 'email', to: ['bo@example.com'], text: 'hi' },
  },
  'GET /agents/{id}/messages': { member: 200, agent: 200 },
  'PATCH /agents/{id}/messages': {
    member: 200,
    agent: 200,
    body: ({ messageId }: Ids) => ({ ids: [messageId], read: true }),
  },
  'PATCH /agents/{id}/messages/{messageId}': { member: 200, agent: 200, body: { labels: ['orders'] } },
  'POST /agents/{id}/messages/release': {
    member: 200,
    agent: 200,
    body: ({ messageId }: Ids) => ({ ids: [messageId] }),
  },
  'POST /agents/{id}/messages/{messageId}/release': { member: 200, agent: 200, body: {} },
  'DELETE /agents/{id}/messages/{messageId}': { member: 204, agent: 204 },
  'POST /agents/{id}/messages/delete': {
    member: 204,
    agent: 204,
    body: ({ messageId }: Ids) => ({ ids: [messageId] }),
  },
  'GET /agents/{id}/messages/{messageId}': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/attachments/{index}/text': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/hidden-text': { member: 200, agent: 403 },
  // no message has a code
  'POST /agents/{id}/codes/take': { member: 404, agent: 404, body: {} },
  // the body of this test is JSON
  'POST /agents/{id}/imports': { member: 415, agent: 415, body: {} },
  'GET /agents/{id}/threads': { member: 200, agent: 200 },
  'GET /agents/{id}/threads/{threadId}': { member: 200, agent: 200 },
  'GET /agents/{id}/threads/{threadId}/transcript': { member: 200, agent: 200 },
  'PATCH /agents/{id}/threads': {
    member: 200,
    agent: 200,
    body: ({ threadId }: Ids) => ({ ids: [threadId], done: true }),
  },
  'PATCH /agents/{id}/threads/{threadId}': { member: 200, agent: 200, body: { done: true } },
  'POST /agents/{id}/threads/{threadId}/notes': { member: 201, agent: 403, body: { text: 'hi' } },
  'GET /agents/{id}/threads/{threadId}/notes': { member: 200, agent: 403 },
  'DELETE /agents/{id}/threads/{threadId}/notes/{noteId}': { member: 204, agent: 403 },
  'POST /agents/{id}/questions': { member: 201, agent: 201, body: { text: 'Refund?' } },
  'GET /agents/{id}/questions': { member: 200, agent: 200 },
  'GET /agents/{id}/questions/{questionId}': { member: 200, agent: 200 },
  'POST /agents/{id}/questions/{questionId}/answer': { member: 200, agent: 403, body: { text: 'Yes' } },
  'DELETE /agents/{id}/questions/{questionId}': { member: 204, agent: 204 },
  'POST /agents/{id}/drafts': { member: 201, agent: 201, body: { text: 'hi' } },
  'GET /agents/{id}/drafts': { member: 200, agent: 200 },
  'GET /agents/{id}/drafts/{draftId}': { member: 200, agent: 200 },
  'PATCH /agents/{id}/drafts/{draftId}': { member: 200, agent: 200, body: { text: 'hello' } },
  'DELETE /agents/{id}/drafts/{draftId}': { member: 204, agent: 204 },
  'POST /agents/{id}/drafts/{draftId}/send': { member: 201, agent: 201 },
  // the message was received, so nothing waits
  'POST /agents/{id}/messages/{messageId}/approve': { member: 404, agent: 404 },
  'POST /agents/{id}/messages/{messageId}/reject': { member: 404, agent: 404 },
  'POST /agents/{id}/messages/{messageId}/cancel': { member: 404, agent: 404 },
  // it does not say how to unsubscribe
  'POST /agents/{id}/messages/{messageId}/unsubscribe': { member: 409, agent: 409 },
  'GET /agents/{id}/messages/{messageId}/recipients': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/raw': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/raw/link': { member: 201, agent: 201 },
  'GET /agents/{id}/messages/{messageId}/html': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/html/link': { member: 201, agent: 201, body: {} },
  'GET /agents/{id}/messages/{messageId}/headers': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/attachments/{index}': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/attachments/{index}/link': { member: 201, agent: 201 },
  'GET /agents/{id}/suppressions': { member: 200, agent: 200 },
  'DELETE /agents/{id}/suppressions/{recipient}': { member: 204, agent: 204 },
  'GET /agents/{id}/secrets': { member: 200, agent: 200 },
  'PUT /agents/{id}/secrets/{name}': { member: 200, agent: 200, body: { value: 'v' } },
  'DELETE /agents/{id}/secrets/{name}': { member: 204, agent: 204 },
  'POST /agents/{id}/secrets/reveal': { member: 403, agent: 200, body: {} },
  'POST /agents/{id}/url': { member: 200, agent: 403, body: { text: 'hi' } },
  'POST /a/{id}': { member: 200, agent: 403, body: { text: 'hi' } },
  'POST /agents/{id}/webhooks': { member: 201, agent: 201, body: { url: 'http://127.0.0.1:9/another' } },
  'GET /agents/{id}/webhooks': { member: 200, agent: 200 },
  'PATCH /agents/{id}/webhooks/{webhookId}': { member: 200, agent: 200, body: { name: 'CRM' } },
  'DELETE /agents/{id}/webhooks/{webhookId}': { member: 204, agent: 204 },
  'GET /agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}': { member: 200, agent: 200 },
  'POST /agents/{id}/webhooks/{webhookId}/resend': {
    member: 201,
    agent: 201,
    body: { since: '2026-01-01T00:00:00Z' },
  },
  'GET /agents/{id}/webhooks/{webhookId}/deliveries': { member: 200, agent: 200 },
  // a test cannot be resent
  'POST /agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend': { member: 409, agent: 409 },
  'POST /agents/{id}/webhooks/{webhookId}/rotate': { member: 201, agent: 201 },
  'POST /agents/{id}/webhooks/{webhookId}/test': { member: 201, agent: 201 },
  // nothing waits for it
  'POST /agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/unblock': {
    member: 409,
    agent: 409,
    body: { skip: false },
  },
  'POST /agents/{id}/webhooks/{webhookId}/replay': { member: 201, agent: 201, body: { after: 0 } },
}

export const ROUTES = Object.keys(TABLE)
/** The routes below an agent. */
export const WITH_ID = ROUTES.filter((route) => route.includes('{id}'))

/** Calls a route of the API at `base` and reads its response, or only the head of a stream. */
export const callRoute = async (base: string, route: string, ids: Ids, token: string | null) => {
  const [method = '', path = ''] = route.split(' ')
  const given = TABLE[route]!.body
  const body = typeof given === 'function' ? given(ids) : given
  const leaving = new AbortController()
  const query = TABLE[route]!.query ? `?${TABLE[route]!.query}` : ''
  const response = await fetch(
    base + path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? `no-${name}`) + query,
    {
      method,
      signal: leaving.signal,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  )
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const text = isStream ? '' : await response.text()
  leaving.abort()
  return { status: response.status, text }
}
