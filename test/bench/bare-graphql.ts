import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { createSchema, createYoga } from 'graphql-yoga'
import mercurius from 'mercurius'
import pg from 'pg'

/**
 * The counterparts of GraphQL, each in its own process: `bare-graphql.ts mercurius|yoga DATABASE_URL` sends its
 * port. They answer the query of `pages.ts` with one prepared select of the agent and one of its messages.
 */

const TYPES = `scalar UUID
  type Query { agent(id: UUID!): Agent! }
  type Agent { id: UUID! name: String! messages(first: Int): Page! }
  type Page { edges: [Edge!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Edge { cursor: String! node: Message! }
  type Message { id: UUID! channel: String! direction: String! counterpart: String! counterpartName: String subject: String text: String!
    status: String! createdAt: String! attachments: [File!]! }
  type File { name: String! type: String! size: Int! }`

const PAGE = `select id, channel, direction, counterpart, counterpart_name as "counterpartName", subject, text, status,
    created_at as "createdAt", '{}'::text[] as attachments
  from message where agent_id = $1 order by created_at desc, id desc limit $2`

const [kind, databaseUrl] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
const query = async (name: string, text: string, values: unknown[]) =>
  (await pool.query({ name, text, values })).rows

interface Row {
  id: string
  createdAt: Date | string
}

const pageOf = async (agentId: string, first: number) => {
  const rows: Row[] = await query('page', PAGE, [agentId, first + 1])
  const edges = rows.slice(0, first).map((node) => ({
    cursor: node.id,
    node: { ...node, createdAt: (node.createdAt as Date).toISOString() },
  }))
  return { edges, pageInfo: { hasNextPage: rows.length > first, endCursor: edges.at(-1)?.cursor } }
}

const resolvers = {
  Query: {
    agent: async (_: unknown, { id }: { id: string }) =>
      (await query('agent', 'select id, name from agent where id = $1', [id]))[0],
  },
  Agent: { messages: ({ id }: { id: string }, { first }: { first: number }) => pageOf(id, first) },
}

const startMercurius = async (): Promise<number> => {
  const app = fastify()
  // Compiles a query when it is seen for the second time, as Mercurius recommends for production.
  app.register(mercurius, { schema: TYPES, resolvers, jit: 1 })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

const startYoga = async (): Promise<number> => {
  const server = createServer(
    createYoga({ schema: createSchema({ typeDefs: TYPES, resolvers }), logging: false }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

process.on('disconnect', () => process.exit())
process.send?.(await (kind === 'mercurius' ? startMercurius() : startYoga()))
