import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Places } from '../../src/core/places.ts'
import { exportWorkspace } from '../../src/export/export.ts'
import type { Viewer } from '../../src/workspace/token/viewer.ts'
import { blobsOf } from '../support/blobs.ts'
import { createFakeClock } from '../support/clock.ts'
import { receive } from '../support/letter.ts'
import { temporaryDir } from '../support/postgres.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** Everything of a workspace in an archive that tar reads, and that can be imported again. */

const dir = temporaryDir()
let service: SharedService
let tenant: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  tenant = await service.workspace()
  agent = await createTestAgent(service, tenant, 'Support Bot')
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await tenant.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'never exported' })
  await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  await tenant.api('POST', `/agents/${agent.id}/drafts`, { text: 'a draft' })
  for (const subject of ['One', 'Two'])
    await receive(service, agent, {
      from: tenant.email,
      to: agent.address,
      subject,
      text: 'first line\nFrom here on, a quoted separator\n>From there',
      attachments: [{ filename: 'a.txt', content: 'a file' }],
    })
  const sent = await tenant.api('POST', `/agents/${agent.id}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    text: 'sent',
    attachments: [
      { name: 'répôrt?.txt', type: 'text/plain', content: Buffer.from('sent file').toString('base64') },
    ],
  })
  expect(sent.status).toBe(201)
  const note = { text: 'for members' }
  const threads = `/agents/${agent.id}/threads`
  expect(
    (await tenant.api('POST', `${threads}/${sent.body.threadId ?? sent.body.id}/notes`, note)).status,
  ).toBe(201)
  // More than the export reads at once.
  await service.db.pool.query(
    `insert into audit_entry (id, workspace_id, actor_kind, action, detail)
     select gen_random_uuid(), $1, 'operator', 'workspace.update', '{}' from generate_series(1, 1001)`,
    [tenant.id],
  )
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const download = async (path: string, token = tenant.token) =>
  fetch(service.http + path, { headers: { Authorization: `Bearer ${token}` } })

/** Unpacks an archive with the system's tar, and returns its files. */
const unpacked = async (name: string, path: string, token = tenant.token): Promise<Map<string, Buffer>> => {
  const response = await download(path, token)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
  const folder = join(dir, name)
  mkdirSync(folder)
  writeFileSync(`${folder}.tar`, Buffer.from(await response.arrayBuffer()))
  execFileSync('tar', ['-xf', `${folder}.tar`, '-C', folder])
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath ?? entry.path, entry.name)
      return [file.slice(folder.length + 1), readFileSync(file)]
    }),
  )
}

const linesOf = (content: Buffer | undefined) =>
  content!
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('an owner exports the workspace: what the API shows, the emails as received, and the other files', async () => {
  const files = await unpacked('workspace', '/export')
  const at = (path: string) => files.get(`agents/${agent.id}/${path}`)
  expect(JSON.parse(files.get('workspace.json')!.toString())).toEqual(
    (await tenant.api('GET', '/workspace')).body,
  )
  expect(linesOf(files.get('members.jsonl'))).toMatchObject([{ email: tenant.email }])
  const audited = [...files]
    .filter(([path]) => path.startsWith('audit-'))
    .flatMap(([, lines]) => linesOf(lines))
  expect(audited.map(({ action }) => action)).toContain('agent.create')
  expect(new Set(audited.map(({ id }) => id)).size).toBe(
    await service.db.prisma.auditEntry.count({ where: { workspaceId: tenant.id } }),
  )
  expect(linesOf(at('notes-000001.jsonl'))).toMatchObject([{ text: 'for members' }])
  expect(JSON.parse(at('agent.json')!.toString())).toMatchObject({ name: 'Support Bot' })
  const messages = linesOf(at('messages-000001.jsonl'))
  const listed = (await tenant.api('GET', `/agents/${agent.id}/messages`)).body.items.reverse()
  expect(messages.map(({ recipients: _, status: __, ...rest }) => rest)).toEqual(
    listed.map(({ status: _, ...rest }: { status: string }) => rest),
  )
  expect(messages[2].recipients).toMatchObject([{ address: 'bo@example.com' }])
  expect(at('mail-000001.mbox')!.toString()).toContain('\n>From here on')
  expect(at('mail-000001.mbox')!.toString()).toContain('\n>>From there')
  const attached = [...files].filter(([path]) => path.includes('/attachments/'))
  expect(attached.map(([path, content]) => [path.split('/').at(-1), content.toString()])).toEqual([
    ['0-r_p_rt_.txt', 'sent file'],
  ])
  expect(linesOf(at('secrets.jsonl'))).toMatchObject([{ name: 'KEY' }])
  expect(linesOf(at('webhooks.jsonl'))).toMatchObject([{ url: 'http://127.0.0.1:9/hook' }])
  expect(linesOf(at('drafts.jsonl'))).toMatchObject([{ content: { text: 'a draft' } }])
  const everything = Buffer.concat([...files.values()]).toString()
  expect(everything).not.toMatch(/never exported|whsec_|a[mas]t_/)
})

test('the mbox of an export restores the emails exactly, in another agent', async () => {
  const files = await unpacked('agent', `/agents/${agent.id}/export`)
  const copy = await createTestAgent(service, tenant, 'Copy')
  const imported = await fetch(`${service.http}/agents/${copy.id}/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.token}`, 'Content-Type': 'application/mbox' },
    body: new Uint8Array(files.get('mail-000001.mbox')!),
  })
  expect(await imported.json()).toMatchObject({ imported: 2, skippedCount: 0 })
  const rawsOf = async ({ id }: TestAgent) => {
    const { items } = (await tenant.api('GET', `/agents/${id}/messages?direction=inbound`)).body
    const raws = await Promise.all(
      items.map(async (message: { id: string }) => {
        const raw = await (await download(`/agents/${id}/messages/${message.id}/raw`)).text()
        return raw.replaceAll('\r\n', '\n').trimEnd()
      }),
    )
    return raws.sort()
  }
  expect(await rawsOf(copy)).toEqual(await rawsOf(agent))
})

test('many messages of the same millisecond are exported, each once', async () => {
  const { id } = await createTestAgent(service, tenant, 'Many')
  await service.db.pool.query(
    `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, "to", cc, text, thread_id, thread_references, created_at)
     select gen_random_uuid(), $1, $2, $2, 'sms', 'inbound', 'received', '+14155550100', '{}', '{}', 'hi', gen_random_uuid(), '{}', now() from generate_series(1, 1001)`,
    [tenant.id, id],
  )
  const files = await unpacked('many', `/agents/${id}/export`)
  const lines = [...files]
    .filter(([path]) => path.startsWith('messages-'))
    .flatMap(([, each]) => linesOf(each))
  expect(lines).toHaveLength(1001)
  expect(new Set(lines.map((message) => message.id)).size).toBe(1001)
})

test('an agent exports itself, without the notes of members, and only owners the workspace; each export is audited', async () => {
  const own = await unpacked('itself', `/agents/${agent.id}/export`, agent.token)
  expect(own.has('messages-000001.jsonl')).toBe(true)
  expect([...own.keys()].filter((path) => path.startsWith('notes-'))).toEqual([])
  expect((await download('/export', agent.token)).status).toBe(403)
  const { items } = (await tenant.api('GET', '/audit?limit=50')).body
  expect(items.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(['workspace.export', 'agent.export']),
  )
})

test('a second export of a workspace waits for the first, which ends with its reader', async () => {
  const other = await service.workspace()
  const bot = await createTestAgent(service, other, 'Bot')
  const leaving = new AbortController()
  const big = Buffer.alloc(8 * 1024 * 1024, 'x').toString('base64')
  for (let n = 0; n < 4; n++)
    await other.api('POST', `/agents/${bot.id}/messages`, {
      channel: 'email',
      to: ['bo@example.com'],
      text: 'large',
      attachments: [{ name: 'a.bin', type: 'application/octet-stream', content: big }],
    })
  const begin = (signal?: AbortSignal) =>
    fetch(`${service.http}/export`, {
      headers: { Authorization: `Bearer ${other.token}` },
      ...(signal ? { signal } : {}),
    })
  // One that an agent begins and never reads does not hold up the owner's.
  const unread = await fetch(`${service.http}/agents/${bot.id}/export`, {
    headers: { Authorization: `Bearer ${bot.token}` },
    signal: leaving.signal,
  })
  const first = await begin(leaving.signal)
  expect([unread.status, first.status]).toEqual([200, 200])
  await first.body!.getReader().read()
  const second = await begin()
  expect([second.status, second.headers.get('retry-after')]).toEqual([429, '60'])
  expect((await download('/export')).status).toBe(200)
  leaving.abort()
  await expect.poll(async () => (await begin()).status).toBe(200)
})

test.each<[string, string, (viewer: Viewer) => Promise<unknown>]>([
  [
    'their token is revoked',
    'unauthorized',
    ({ tokenId: id }) => service.db.prisma.token.delete({ where: { id } }),
  ],
  [
    'their token expires',
    'unauthorized',
    ({ tokenId: id }) => service.db.prisma.token.update({ where: { id }, data: { expiresAt: new Date(0) } }),
  ],
  ["their app's access token expires", 'unauthorized', async () => undefined],
  [
    'they are no owner any more',
    'forbidden',
    ({ id }) => service.db.prisma.member.update({ where: { id }, data: { role: 'member' } }),
  ],
])('an export ends half-way, within a second, when %s', async (way, code, end) => {
  const other = await service.workspace()
  const { id: tokenId } = (await other.api('POST', '/tokens', {})).body
  const clock = createFakeClock()
  const expiresAt = way.includes('app') ? new Date(clock.now().getTime() + 500) : null
  const viewer: Viewer = {
    ...{ kind: 'member' as const, id: other.member, workspaceId: other.id, tokenId },
    ...{ role: 'owner' as const, name: null, email: other.email, expiresAt, scopes: null, session: null },
  }
  const publicUrl = () => service.http
  const deps = { ...service.db, blobs: blobsOf(service), clock, publicUrl, exports: new Places(1) }
  const reader = (await exportWorkspace(deps, viewer)).getReader()
  expect((await reader.read()).done).toBe(false)
  await end(viewer)
  clock.advance(1_000)
  await expect(reader.read()).rejects.toMatchObject({ code })
  expect(deps.exports.held(`member:${viewer.id}`)).toBe(0)
})
