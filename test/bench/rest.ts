import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
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
/** An agent can send at most 60 messages a minute, so the load is spread over many. */
const AGENTS = 400
const TEXT = 'Your order 4711 is out for delivery today. '.repeat(20)

type Pool = Awaited<ReturnType<typeof openFoundation>>['db']['pool']

/** The counterpart: a bare Hono route with one prepared insert or one prepared select through pg. */
const startBare = async (pool: Pool) => {
  await pool.query(
    'create table if not exists bare_message (id uuid primary key, agent_id uuid, body jsonb, created_at timestamptz default now())',
  )
  const known = randomUUID()
  await pool.query('insert into bare_message (id, agent_id, body) values ($1, $2, $3)', [
    known,
    randomUUID(),
    { text: TEXT },
  ])
  const app = new Hono()
  app.post('/messages', async (c) => {
    const body = await c.req.json()
    const id = randomUUID()
    await pool.query({
      name: 'bare insert',
      text: 'insert into bare_message (id, agent_id, body) values ($1, $2, $3)',
      values: [id, known, body],
    })
    return c.json({ id, ...body }, 201)
  })
  app.get('/messages/:id', async (c) => {
    const { rows } = await pool.query({
      name: 'bare select',
      text: 'select * from bare_message where id = $1',
      values: [c.req.param('id')],
    })
    return c.json(rows[0])
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    known,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Starts the service with its API, a workspace and agents. */
export const startApi = async (dataDir: string, agentCount = AGENTS) => {
  const config = readConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    ROLES: 'api',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: '100000000',
  })
  const foundation = await openFoundation(config, silentLogger, { service: true })
  const app = await startApp(config, foundation, silentLogger)
  const { token } = await createWorkspace(
    { ...foundation.db, masterKey: foundation.masterKey },
    { name: 'Bench', ownerEmail: 'ann@example.com', plan: 'unlimited' },
  )
  const api = apiOf(app.http, token)
  const agents: string[] = []
  for (let n = 0; n < agentCount; n++)
    agents.push((await api('POST', '/agents', { name: `Bench ${n}`, icon: 'bot' })).body.id)
  return { app, foundation, token, api, agents }
}

export type Requests = {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}[]

/** Measures requests per second over `CONNECTIONS` connections. */
export const rate = async (child: ChildProcess, origin: string, requests: Requests): Promise<number> => {
  child.send({ origin, requests, connections: CONNECTIONS, total: TOTAL })
  const [{ seconds }] = (await once(child, 'message')) as [{ seconds: number }]
  return TOTAL / seconds
}

/** Sends (each committed before its response) and reads per second, against the bare route. */
export const benchRest = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const { app, foundation, token, api, agents } = await startApi(dataDir)
  const bare = await startBare(foundation.db.pool)
  const child = fork(join(import.meta.dirname, 'http-client.ts'), { execArgv: ['--import', 'tsx'] })
  await once(child, 'message')
  const json = { 'content-type': 'application/json' }
  const headers = { authorization: `Bearer ${token}` }
  const body = JSON.stringify({
    channel: 'email',
    to: ['ann@example.com'],
    subject: 'Your order',
    text: TEXT,
  })
  const sends: Requests = agents.map((id) => ({
    method: 'POST',
    path: `/agents/${id}/messages`,
    headers: { ...headers, ...json },
    body,
  }))
  const message = (await api('POST', `/agents/${agents[0]}/messages`, JSON.parse(body))).body
  const read: Requests = [{ method: 'GET', path: `/agents/${agents[0]}/messages/${message.id}`, headers }]
  try {
    return [
      await pairedRounds(
        `sends, ${CONNECTIONS} connections / bare Hono with one insert`,
        'requests/s',
        ROUNDS,
        () => rate(child, app.http, sends),
        () => rate(child, bare.origin, [{ method: 'POST', path: '/messages', headers: json, body }]),
      ),
      await pairedRounds(
        `reads of a message, ${CONNECTIONS} connections / bare Hono with one select`,
        'requests/s',
        ROUNDS,
        () => rate(child, app.http, read),
        () => rate(child, bare.origin, [{ method: 'GET', path: `/messages/${bare.known}`, headers: {} }]),
      ),
    ]
  } finally {
    child.disconnect()
    await bare.stop()
    await app.stop(2_000)
    await foundation.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
