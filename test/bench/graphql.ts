import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createSchema, createYoga } from 'graphql-yoga'
import type pg from 'pg'
import { startApp } from '../../src/app.ts'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { temporaryDir } from '../support/postgres.ts'
import { apiOf } from '../support/service.ts'
import { type BenchRow, pairedRounds } from './table.ts'

const ROUNDS = 5
const CONNECTIONS = 16
const TOTAL = 3_000
const MESSAGES = 200

/** A page of an agent's inbox, as a dashboard requests it. */
const INBOX = `query ($id: UUID!) { agent(id: $id) { id name messages(first: 20) {
  edges { cursor node { id channel direction counterpart counterpartName subject text status createdAt attachments { name type size } } }
  pageInfo { hasNextPage endCursor } } } }`

const BARE = `scalar UUID
  type Query { agent(id: UUID!): Agent! }
  type Agent { id: UUID! name: String! messages(first: Int): Page! }
  type Page { edges: [Edge!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Edge { cursor: String! node: Message! }
  type Message { id: UUID! channel: String! direction: String! counterpart: String! counterpartName: String subject: String text: String!
    status: String! createdAt: String! attachments: [File!]! }
  type File { name: String! type: String! size: Int! }`

type Statement = Parameters<pg.Pool['query']>

const startOurs = async (dataDir: string) => {
  const config = readConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    ROLES: 'api',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: '100000000',
  })
  const foundation = await openFoundation(config, silentLogger, { service: true })
  const app = await startApp(config, foundation, silentLogger)
  const { token, workspace } = await createWorkspace(
    { ...foundation.db, masterKey: foundation.masterKey },
    { name: 'Bench', ownerEmail: 'ann@example.com', plan: 'unlimited' },
  )
  const api = apiOf(app.http, token)
  const agentId: string = (await api('POST', '/agents', { name: 'Bench', icon: 'bot' })).body.id
  const stop = async () => {
    await app.stop(2_000)
    await foundation.close()
  }
  return { http: app.http, db: foundation.db, token, workspace, agentId, api, stop }
}
type Ours = Awaited<ReturnType<typeof startOurs>>

const fill = async ({ db, workspace, agentId }: Ours): Promise<void> => {
  await db.pool.query(
    `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, counterpart_name, "to", cc, subject, text, thread_id)
     select m.id, $1, $2, gen_random_uuid(), 'email', 'inbound', 'received', 'ann@example.com', 'Ann Example', '{bot@example.com}', '{}',
            'Where is my order?', repeat('It has not arrived yet. ', 20), m.id
       from (select gen_random_uuid() as id from generate_series(1, ${MESSAGES})) m`,
    [workspace, agentId],
  )
}

/** Records the statements that the service executes for a request other than its first. */
const recordStatements = async ({ db: { pool }, api, agentId }: Ours): Promise<Statement[]> => {
  const ask = () => api('POST', '/graphql', { query: INBOX, variables: { id: agentId } })
  await ask()
  const statements: Statement[] = []
  const query = pool.query
  pool.query = ((...statement: Statement) => {
    statements.push(statement)
    return Reflect.apply(query, pool, statement)
  }) as typeof query
  const { body } = await ask()
  pool.query = query
  if (body.errors || body.data.agent.messages.edges.length !== 20) throw new Error(JSON.stringify(body))
  return statements
}

/** The counterpart: the same statements in sequence, in one resolver of a default Yoga. */
const startBare = async ({ db: { pool }, agentId }: Ours, statements: readonly Statement[]) => {
  const agent = async () => {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements)
      rows = ((await Reflect.apply(pool.query, pool, statement)) as unknown as pg.QueryResult).rows
    const edges = rows.slice(0, 20).map((node) => ({ cursor: String(node.id), node }))
    return {
      id: agentId,
      name: 'Bench',
      messages: { edges, pageInfo: { hasNextPage: rows.length > 20, endCursor: edges.at(-1)?.cursor } },
    }
  }
  const yoga = createYoga({
    schema: createSchema({ typeDefs: BARE, resolvers: { Query: { agent } } }),
    logging: false,
  })
  const server = createServer(yoga).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((done) => server.close(done)),
  }
}

const rateOf = async (child: ChildProcess, origin: string, token: string, body: string): Promise<number> => {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
  }
  child.send({
    origin,
    requests: [{ method: 'POST', path: '/graphql', headers, body }],
    connections: CONNECTIONS,
    total: TOTAL,
  })
  const [{ seconds }] = (await once(child, 'message')) as [{ seconds: number }]
  return TOTAL / seconds
}

/** Inbox pages per second, against the same statements behind a bare Yoga. */
export const benchGraphql = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const ours = await startOurs(dataDir)
  await fill(ours)
  const statements = await recordStatements(ours)
  const bare = await startBare(ours, statements)
  const child = fork(join(import.meta.dirname, 'http-client.ts'), { execArgv: ['--import', 'tsx'] })
  await once(child, 'message')
  const body = JSON.stringify({ query: INBOX, variables: { id: ours.agentId } })
  try {
    return [
      await pairedRounds(
        `inbox pages, ${CONNECTIONS} connections, ${statements.length} statements each / the same behind a bare Yoga`,
        'requests/s',
        ROUNDS,
        () => rateOf(child, ours.http, ours.token, body),
        () => rateOf(child, bare.origin, ours.token, body),
      ),
    ]
  } finally {
    child.disconnect()
    await bare.stop()
    await ours.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
