import { randomUUID } from 'node:crypto'
import type { RootDb } from '../../src/db/client.ts'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'

/** An agent with a token and a client, since an agent has one stream. */
export interface StreamAgent {
  id: string
  token: string
  connectionId: string
}

export const createStreamAgents = async ({ prisma, pool }: RootDb, count: number): Promise<StreamAgent[]> => {
  const { id: workspaceId } = await prisma.workspace.findFirstOrThrow()
  const agents = Array.from({ length: count }, () => ({
    id: randomUUID(),
    token: newToken('agent'),
    tokenId: randomUUID(),
    connectionId: randomUUID(),
  }))
  await prisma.agent.createMany({
    data: agents.map(({ id }) => ({ id, workspaceId, name: 'Bench', icon: 'bot' })),
  })
  await prisma.eventLog.createMany({ data: agents.map(({ id }) => ({ agentId: id })) })
  await prisma.token.createMany({
    data: agents.map(({ id, token, tokenId }) => ({
      id: tokenId,
      workspaceId,
      agentId: id,
      hash: new Uint8Array(hashToken(token)),
    })),
  })
  await prisma.connection.createMany({
    data: agents.map(({ id, tokenId, connectionId }) => ({
      id: connectionId,
      agentId: id,
      tokenId,
      client: 'bench',
      machine: 'm',
      startAfter: 0,
    })),
  })
  await pool.query('analyze')
  return agents
}

export const streamRequest = ({ id, connectionId, token }: StreamAgent): string =>
  `GET /agents/${id}/connections/${connectionId}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nLast-Event-ID: 0\r\n\r\n`

const QUERY =
  'subscription ($id: UUID!) { messageReceived(agentId: $id) { id type channel messageId createdAt sender { kind name email } } }'

export const subscribeRequest = ({ id, token }: Pick<StreamAgent, 'id' | 'token'>): string => {
  const body = JSON.stringify({ query: QUERY, variables: { id } })
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
