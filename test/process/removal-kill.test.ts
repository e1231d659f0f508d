import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { openTestDatabase } from '../support/database.ts'
import { deliver } from '../support/mail.ts'
import { storeCopies } from '../support/many-messages.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { tablesWith } from '../support/remaining-rows.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Agents and workspaces are deleted although the service is killed in the middle of it. */

const MESSAGES = 2_000
/** What still names an agent that was deleted; the last is deleted ten minutes later. */
const RECORDS = ['audit_entry', 'workspace_change', 'deleted_agent']
/** An address is never given to another workspace. */
const RECORDS_OF_WORKSPACE = ['deleted_agent', 'given_address']

const db = await openTestDatabase()
const dataDir = temporaryDir()
const masterKey = randomBytes(32)
const settings = {
  DATA_DIR: dataDir,
  DATABASE_URL: db.url,
  MASTER_KEY: masterKey.toString('base64'),
  OWNER_TOKEN: 'a token of the owner, chosen by hand',
  LOG_LEVEL: 'warn',
}
let service: ServiceProcess
let ready: { http: string; smtp: string }

const start = async () => {
  service = run(settings)
  ready = await service.ready()
}
const kill = async () => {
  service.kill('SIGKILL')
  await service.exited
}
beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)
afterAll(() => cleanUp(dataDir))

const agentWithMail = async (api: Api, name: string) => {
  const { id } = (await api('POST', '/agents', { name, icon: 'bot' })).body
  await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const [{ value: to }] = (await api('GET', `/agents/${id}/addresses`)).body
  const attachments = [{ filename: 'a.txt', content: 'a file' }]
  await deliver(ready.smtp, { to, from: 'ann@example.com', subject: 'Hi', text: 'hi', attachments })
  const [message] = (await api('GET', `/agents/${id}/messages`)).body.items
  return { id: id as string, messageId: message.id as string }
}

const messagesOf = async (agentId: string): Promise<number> =>
  (await db.pool.query('select count(*)::int as n from message where agent_id = $1', [agentId])).rows[0].n

/** Locks rows, so that whoever deletes them waits. */
const lock = async (table: string, column: string, id: string) => {
  const client = new pg.Client({ connectionString: db.url })
  await client.connect()
  await client.query('begin')
  await client.query(`select from ${table} where ${column} = $1 for update`, [id])
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return {
    /** Resolves once somebody waits. */
    reached: () =>
      until(async () => {
        const waiting = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
        return (await db.pool.query(waiting, [rows[0].pid])).rowCount
      }, 90_000),
    release: () => client.end(),
  }
}

test('killed while it deletes an agent and a workspace, it continues, and nothing of others is missing', async () => {
  await start()
  const owner: Api = (...request) => apiOf(ready.http, settings.OWNER_TOKEN)(...request)
  const kept = await agentWithMail(owner, 'Kept')
  const usage = async () => (await owner('GET', '/workspace')).body.plan.usage
  const before = {
    usage: await usage(),
    messages: (await owner('GET', `/agents/${kept.id}/messages`)).body,
    raw: (await owner('GET', `/agents/${kept.id}/messages/${kept.messageId}/raw`)).text,
  }
  const large = await agentWithMail(owner, 'Large')
  const middle = await storeCopies(db, large.id, large.messageId, MESSAGES)
  const doomed = await createWorkspace(
    { ...db, masterKey },
    { name: 'Doomed', ownerEmail: 'bo@example.com', plan: 'unlimited' },
  )
  const agents = []
  for (const name of ['One', 'Two', 'Three'])
    agents.push(await agentWithMail(apiOf(ready.http, doomed.token), name))
  await storeCopies(db, agents[0]!.id, agents[0]!.messageId, MESSAGES)

  const locks = [await lock('message', 'id', middle), await lock('agent', 'id', agents[1]!.id)]
  expect((await owner('DELETE', `/agents/${large.id}`)).status).toBe(204)
  await db.pool.query('update workspace set delete_at = now() where id = $1', [doomed.workspace])
  for (const { reached } of locks) await reached()
  await kill()
  expect(await messagesOf(large.id)).toBeLessThan(MESSAGES)
  expect(await messagesOf(large.id)).toBeGreaterThan(0)
  expect(await db.prisma.agent.count({ where: { workspaceId: doomed.workspace } })).toBeGreaterThan(0)
  for (const { release } of locks) await release()

  const last = await lock('audit_entry', 'workspace_id', doomed.workspace)
  await start()
  await last.reached()
  await kill()
  expect(await db.prisma.workspace.count({ where: { id: doomed.workspace } })).toBe(1)
  await last.release()

  await start()
  await until(async () => {
    const left = await tablesWith(db, { agents: [large.id] })
    return left.every((table) => RECORDS.includes(table))
  })
  const all = {
    workspaces: [doomed.workspace],
    members: [doomed.member],
    agents: agents.map(({ id }) => id),
  }
  await until(async () => (await tablesWith(db, all)).join() === RECORDS_OF_WORKSPACE.join())
  expect(await db.prisma.workspace.count({ where: { id: doomed.workspace } })).toBe(0)
  expect((await owner('GET', '/agents')).body.map(({ id }: { id: string }) => id)).toEqual([kept.id])
  expect({
    usage: await usage(),
    messages: (await owner('GET', `/agents/${kept.id}/messages`)).body,
    raw: (await owner('GET', `/agents/${kept.id}/messages/${kept.messageId}/raw`)).text,
  }).toEqual(before)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})
