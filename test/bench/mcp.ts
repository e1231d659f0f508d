import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rpc } from '../support/mcp.ts'
import { temporaryDir } from '../support/postgres.ts'
import { type Requests, rate, startApi } from './rest.ts'
import { memory } from './streams.ts'
import { type BenchRow, pairedRounds } from './table.ts'

const ROUNDS = 5
const STREAMS = Number(process.env.BENCH_STREAMS ?? 1_000)
const TEXT = 'The parcel has not arrived yet, and I leave on Friday. '.repeat(19)

type Api = Awaited<ReturnType<typeof startApi>>

const child = async (file: string): Promise<ChildProcess> => {
  const made = fork(join(import.meta.dirname, file), { execArgv: ['--import', 'tsx'] })
  await once(made, 'message')
  return made
}

/** Compares `read_message` with reading the same message over REST. */
const benchReads = async ({ app, api, agents }: Api): Promise<BenchRow> => {
  const [agentId] = agents
  const { token } = (await api('POST', `/agents/${agentId}/tokens`, {})).body
  const message = (
    await api('POST', `/agents/${agentId}/messages`, {
      channel: 'email',
      to: ['ann@example.com'],
      text: TEXT,
    })
  ).body
  const { headers, body } = rpc('tools/call', { name: 'read_message', arguments: { messageId: message.id } })
  const authorization = `Bearer ${token}`
  const call: Requests = [
    { method: 'POST', path: '/mcp', headers: { ...headers, authorization }, body: JSON.stringify(body) },
  ]
  const read: Requests = [
    { method: 'GET', path: `/agents/${agentId}/messages/${message.id}`, headers: { authorization } },
  ]
  const client = await child('http-client.ts')
  try {
    return await pairedRounds(
      'MCP read_message, 16 connections / REST read',
      'requests/s',
      ROUNDS,
      () => rate(client, app.http, call),
      () => rate(client, app.http, read),
    )
  } finally {
    client.disconnect()
  }
}

/** Compares the memory of an open MCP stream with that of an event stream of the same agent. */
const benchMemory = async ({ app, api, agents, foundation }: Api): Promise<BenchRow> => {
  const port = Number(new URL(app.http).port)
  const mcp: string[] = []
  const streams: string[] = []
  for (const agentId of agents) {
    const { token, id: tokenId } = (await api('POST', `/agents/${agentId}/tokens`, {})).body
    const { headers, body } = rpc('events/stream', { name: 'message.received', arguments: {}, cursor: null })
    const text = JSON.stringify(body)
    const lines = {
      ...headers,
      Host: 'localhost',
      Authorization: `Bearer ${token}`,
      'Content-Length': text.length,
    }
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
    mcp.push(`POST /mcp HTTP/1.1\r\n${head.join('')}\r\n${text}`)
    const { id } = await foundation.db.prisma.connection.create({
      data: { agentId, tokenId, client: 'bench', machine: 'm', startAfter: 0 },
    })
    streams.push(
      `GET /agents/${agentId}/connections/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
  }
  const openAll = async (requests: string[]): Promise<number> => {
    const client = await child('stream-client.ts')
    const before = await memory()
    client.send({ port, requests })
    await once(client, 'message')
    const each = ((await memory()) - before) / requests.length / 1024
    client.disconnect()
    await sleep(500)
    return each
  }
  // Event streams first: a second client would replace their connections.
  const theirs = await openAll(streams)
  const ours = await openAll(mcp)
  return {
    name: `memory of one of ${agents.length} MCP streams / of an event stream`,
    unit: 'KiB',
    ours,
    counterpart: theirs,
    ratio: ours / theirs,
  }
}

/** Tool calls per second, and the memory of an event stream. */
export const benchMcp = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const api = await startApi(dataDir, STREAMS)
  try {
    return [await benchReads(api), await benchMemory(api)]
  } finally {
    await api.app.stop(2_000)
    await api.foundation.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
