import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { createClient } from 'graphql-sse'

/** Accesses the service as its clients do: HTTP with a bearer token. */
export interface Client {
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Returns the first event of a `text/event-stream`. */
  firstEvent(path: string): Promise<{ id: number }>
  /** Returns the first `messageReceived` of a GraphQL subscription. */
  firstReceived(agentId: string): Promise<{ id: number }>
}

/** The fields of a message that the demo uses. */
export interface Message {
  id: string
  text: string
  status: string
  error: string | null
  admission: string
  segments: number | null
}

/** Waits until a message is sent. Throws with the provider's message when sending fails. */
export const untilSent = async (agent: Client, path: string): Promise<Message> => {
  for (;;) {
    const message = await agent.call<Message>('GET', path)
    if (message.status === 'sent') return message
    if (message.status === 'failed') throw new Error(`the reply was not sent: ${message.error}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const FIRST_RECEIVED = 'subscription ($agentId: UUID!) { messageReceived(agentId: $agentId) { id } }'

export const createHttpClient = (base: string, token: string): Client => {
  const headers = { Authorization: `Bearer ${token}` }
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${answer}`)
    return JSON.parse(answer) as Answer
  }
  return {
    call,
    firstEvent: (path) => firstEvent(base + path, headers),
    firstReceived: (agentId) => firstReceived(base, headers, agentId),
  }
}

const firstEvent = async (url: string, headers: Record<string, string>): Promise<{ id: number }> => {
  const response = await fetch(url, { headers })
  if (!response.ok || !response.body) throw new Error(`the stream returned ${response.status}`)
  const stream = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
  for await (const line of createInterface({ input: stream })) {
    if (line.startsWith('data: ')) return JSON.parse(line.slice('data: '.length)) as { id: number }
  }
  throw new Error('the stream ended without an event')
}

const firstReceived = async (
  base: string,
  headers: Record<string, string>,
  agentId: string,
): Promise<{ id: number }> => {
  const client = createClient({ url: `${base}/graphql`, headers })
  const results = client.iterate<{ messageReceived: { id: number } }>({
    query: FIRST_RECEIVED,
    variables: { agentId },
  })
  for await (const { data, errors } of results) {
    if (data) return data.messageReceived
    throw new Error(`the subscription returned ${JSON.stringify(errors)}`)
  }
  throw new Error('the subscription ended without an event')
}
