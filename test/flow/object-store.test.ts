import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openBlobs } from '../../src/blob/open.ts'
import { checkSoon } from '../../src/blob/sweep.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { bind, sql } from '../../src/db/sql/sql.ts'
import { composedOf } from '../../src/db/sql/statement.ts'
import { moveContents } from '../../src/message/move-contents.ts'
import { createFakeClock } from '../support/clock.ts'
import { post, receive } from '../support/letter.ts'
import { rawOf } from '../support/mail.ts'
import { openMcp } from '../support/mcp.ts'
import { whileRefusing } from '../support/rows.ts'
import { openBucket } from '../support/s3.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** With BLOB_URL, the emails as received and the attachments are objects in a bucket; without it, in the database. */

const HOUR = 3_600_000
const clock = createFakeClock()
const bucket = await openBucket()
const service = await startService({ world: { clock }, environment: bucket.environment })
const { pool } = service.db
const owner = await service.workspace()

afterEach(() => {
  bucket.before = () => undefined
})

const agentOf = async (tenant: Tenant = owner): Promise<TestAgent> => {
  const agent = await createTestAgent(service, tenant)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const letterTo = (agent: TestAgent, content: Buffer | string, subject = 'A file') => ({
  from: 'ann@example.com',
  to: agent.address,
  subject,
  html: `<p>See the file of ${subject}</p>`,
  attachments: [{ filename: 'a.png', content: Buffer.from(content) }],
})
const pathOf = (agent: TestAgent, { id }: { id: string }) => `/agents/${agent.id}/messages/${id}`
const bytesAt = async (agent: TestAgent, path: string): Promise<Buffer> => {
  const response = await fetch(service.http + path, { headers: { Authorization: `Bearer ${agent.token}` } })
  expect(response.status, path).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
const objectsOf = (agent: TestAgent) => [...bucket.objects.keys()].filter((key) => key.includes(agent.id))
const inDatabase = async (agent: TestAgent): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    `select ((select count(content) from message_raw where agent_id = $1)
           + (select count(content) from attachment where agent_id = $1))::int as count`,
    [agent.id],
  )
  return rows[0]!.count
}
/** Runs the worker that deletes objects, as time passes. */
const sweepAfter = async (ms: number, done: () => boolean | Promise<boolean>): Promise<void> => {
  clock.advance(ms)
  await until(async () => {
    clock.advance(60_000)
    return done()
  })
}

test('a mail and its file are encrypted objects of the agent, and are read as they were', async () => {
  const agent = await agentOf()
  const content = randomBytes(50_000)
  const message = await receive(service, agent, letterTo(agent, content))
  expect(await inDatabase(agent)).toBe(0)
  const keys = objectsOf(agent)
  expect(keys).toHaveLength(2)
  for (const key of keys)
    expect(key).toMatch(new RegExp(`^ams/${owner.id}/${agent.id}/[0-9a-f]{64}-[0-9a-f-]{36}$`))
  for (const key of keys) {
    expect(bucket.objects.get(key)!.includes('Subject: A file')).toBe(false)
    expect(bucket.objects.get(key)!.includes(content.subarray(100, 200))).toBe(false)
  }
  const path = pathOf(agent, message)
  expect(await bytesAt(agent, `${path}/attachments/0`)).toEqual(content)
  expect((await bytesAt(agent, `${path}/raw`)).toString()).toContain('Subject: A file')
  const link = (await agent.api('POST', `${path}/attachments/0/link`)).body.url
  const linked = await fetch(service.http + new URL(link).pathname + new URL(link).search)
  expect(Buffer.from(await linked.arrayBuffer())).toEqual(content)
  const view = await agent.api('GET', `${path}/html`)
  expect(view.text).toContain('See the file')
  const forward = { forward: message.id, to: ['bob@example.com'], text: 'for you' }
  const sent = await agent.api('POST', `/agents/${agent.id}/messages`, forward, { 'Idempotency-Key': 'fwd' })
  expect(await bytesAt(agent, `${pathOf(agent, sent.body)}/attachments/0`)).toEqual(content)
  expect(objectsOf(agent)).toHaveLength(2)
  const archive = await bytesAt({ ...agent, token: owner.token }, `/agents/${agent.id}/export`)
  expect(archive.includes('Subject: A file')).toBe(true)
})

test('files to send are objects too, with a key for one request or without, and are sent', async () => {
  const agent = await agentOf()
  const send = (content: string, headers?: Record<string, string>) => {
    const file = { name: 'b.txt', type: 'text/plain', content: Buffer.from(content).toString('base64') }
    const body = { channel: 'email', to: ['bob@example.com'], text: 'hi', attachments: [file] }
    return agent.api('POST', `/agents/${agent.id}/messages`, body, headers)
  }
  const answers = [await send('plainly sent'), await send('sent once', { 'Idempotency-Key': 'once' })]
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  expect((await send('sent once', { 'Idempotency-Key': 'once' })).body.id).toBe(answers[1]!.body.id)
  expect(objectsOf(agent)).toHaveLength(2)
  expect(await inDatabase(agent)).toBe(0)
  const outbox = join(service.dataDir, 'outbox')
  for (const [{ body }, text] of [
    [answers[0]!, 'plainly sent'],
    [answers[1]!, 'sent once'],
  ] as const) {
    await until(() =>
      readdirSync(outbox)
        .filter((name) => name.includes(body.id))
        .some((name) =>
          readFileSync(join(outbox, name), 'utf8').includes(Buffer.from(text).toString('base64')),
        ),
    )
  }
})

test("small contents stay in the database, a draft's files leave it when it is sent, and both places are read", async () => {
  const agent = await agentOf()
  const other = await service.again({ BLOB_MIN_BYTES: '100000', ROLES: 'smtp' })
  const [host = '', port] = other.smtp!.split(':')
  const message = await receive(
    { ...service, smtp: { host, port: Number(port) } },
    agent,
    letterTo(agent, 'small'),
  )
  expect(await inDatabase(agent)).toBe(2)
  const file = { name: 'c.txt', type: 'text/plain', content: Buffer.from('of a draft').toString('base64') }
  const body = { channel: 'email', to: ['bob@example.com'], text: 'hi', attachments: [file] }
  const draft = (await agent.api('POST', `/agents/${agent.id}/drafts`, body)).body
  expect(objectsOf(agent)).toEqual([])
  const sent = (await agent.api('POST', `/agents/${agent.id}/drafts/${draft.id}/send`)).body
  expect(objectsOf(agent)).toHaveLength(1)
  expect((await bytesAt(agent, `${pathOf(agent, message)}/attachments/0`)).toString()).toBe('small')
  expect((await bytesAt(agent, `${pathOf(agent, sent)}/attachments/0`)).toString()).toBe('of a draft')
})

test('a draft that a tool changes and sends in one call keeps its files in the database, with a key too', async () => {
  const agent = await agentOf()
  const content = randomBytes(50_000)
  const made = await agent.api('POST', `/agents/${agent.id}/drafts`, {
    ...{ channel: 'email', to: ['ann@example.com'], subject: 'Hi', text: 'old' },
    attachments: [{ name: 'a.bin', type: 'application/octet-stream', content: content.toString('base64') }],
  })
  const mcp = await openMcp(service.http, agent.token)
  const change = { draftId: made.body.id, do: 'send', text: 'new', key: 'once' }
  const sent = await mcp.call('update_draft', change)
  expect(sent.isError, sent.text).toBe(false)
  expect((await mcp.call('update_draft', change)).text).toContain(sent.result.messageId)
  await mcp.close()
  const path = pathOf(agent, { id: sent.result.messageId })
  expect((await agent.api('GET', path)).body.text).toBe('new')
  expect(await bytesAt(agent, `${path}/attachments/0`)).toEqual(content)
  expect(await inDatabase(agent)).toBe(1)
})

test('while the store is down nothing is accepted that it would have, and everybody is told', async () => {
  const agent = await agentOf()
  const raw = await rawOf({ ...letterTo(agent, 'kept'), messageId: '<again@example.com>' })
  const letter = { raw, envelope: { from: 'ann@example.com', to: agent.address } }
  const early = await receive(service, agent, letterTo(agent, 'early', 'Early'))
  const file = { name: 'd.txt', type: 'text/plain', content: 'YWJj' }
  const body = { channel: 'email', to: ['bob@example.com'], text: 'hi', attachments: [file] }
  await bucket.stop()
  try {
    clock.advance(10_000)
    await expect(post(service, letter)).rejects.toMatchObject({ responseCode: 451 })
    for (const key of [undefined, 'while down']) {
      const headers: Record<string, string> = key ? { 'Idempotency-Key': key } : {}
      const answer = await agent.api('POST', `/agents/${agent.id}/messages`, body, headers)
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
      expect(answer.headers.get('retry-after')).toBe('30')
    }
    const read = await agent.api('GET', `${pathOf(agent, early)}/attachments/0`)
    expect(read).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
    const listed = await agent.api('GET', `/agents/${agent.id}/messages`)
    expect(listed.body.items.map(({ subject }: { subject: string }) => subject)).toEqual(['Early'])
    expect((await fetch(`${service.http}/readyz`)).status).toBe(503)
    const metrics = await (await fetch(`${service.http}/metrics`)).text()
    expect(metrics).toMatch(/ams_blob_requests_total\{operation="put_failed"\} [1-9]/)
    expect(metrics).toMatch(/ams_blob_requests_total\{operation="get_failed"\} [1-9]/)
  } finally {
    await bucket.start()
  }
  clock.advance(10_000)
  expect((await fetch(`${service.http}/readyz`)).status).toBe(200)
  await post(service, letter)
  await post(service, letter)
  const listed = await agent.api('GET', `/agents/${agent.id}/messages`)
  expect(listed.body.items.map(({ subject }: { subject: string }) => subject)).toEqual(['A file', 'Early'])
  const again = await agent.api('POST', `/agents/${agent.id}/messages`, body, {
    'Idempotency-Key': 'while down',
  })
  expect(again.status).toBe(201)
})

test('a mail is acknowledged only after the store has it, and a request that failed once is tried again', async () => {
  const agent = await agentOf()
  const order: string[] = []
  const failed = new Set<string>()
  let release: (() => void) | undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  bucket.before = async (method, key) => {
    if (!failed.has(key)) {
      failed.add(key)
      return 503
    }
    await held
    order.push(`${method} is done`)
    return undefined
  }
  const delivery = post(service, letterTo(agent, 'slow')).then(() => order.push('acknowledged'))
  await until(() => failed.size === 2)
  release!()
  await delivery
  expect(order).toEqual(['PUT is done', 'PUT is done', 'acknowledged'])
})

test('changed, exchanged and missing objects are an error, never other bytes', async () => {
  const agent = await agentOf()
  const [one, other] = [
    await receive(service, agent, letterTo(agent, 'the first', 'First')),
    await receive(service, agent, letterTo(agent, 'the other', 'Second')),
  ]
  const keyOf = async ({ id }: { id: string }) => {
    const { rows } = await pool.query<{ blob_id: string }>(
      'select blob_id from attachment where message_id = $1',
      [id],
    )
    return objectsOf(agent).find((key) => key.endsWith(rows[0]!.blob_id))!
  }
  const [key, otherKey] = [await keyOf(one), await keyOf(other)]
  const whole = bucket.objects.get(key)!
  const flipped = Buffer.from(whole)
  flipped[flipped.length - 1]! ^= 1
  const path = `${pathOf(agent, one)}/attachments/0`
  for (const wrong of [flipped, whole.subarray(0, -1), Buffer.alloc(0), bucket.objects.get(otherKey)!]) {
    bucket.objects.set(key, wrong)
    expect((await agent.api('GET', path)).status).toBe(503)
  }
  bucket.objects.delete(key)
  expect((await agent.api('GET', path)).status).toBe(503)
  bucket.objects.set(key, whole)
  expect((await bytesAt(agent, path)).toString()).toBe('the first')
})

test('an object that was written for a commit that never came is deleted an hour later, not earlier', async () => {
  const agent = await agentOf()
  const lost = whileRefusing({ pool }, 'message', () => post(service, letterTo(agent, 'lost')))
  await expect(lost).rejects.toMatchObject({ responseCode: 451 })
  expect(objectsOf(agent)).toHaveLength(2)
  // What is swept meanwhile shows that the worker has run.
  const witness = await agentOf()
  const { id } = await receive(service, witness, letterTo(witness, 'deleted'))
  await owner.api('DELETE', `/agents/${witness.id}/messages/${id}`)
  await sweepAfter(0, () => objectsOf(witness).length === 0)
  expect(objectsOf(agent)).toHaveLength(2)
  await sweepAfter(HOUR, () => objectsOf(agent).length === 0)
  expect((await pool.query('select from blob where agent_id = $1', [agent.id])).rowCount).toBe(0)
})

test('the same file of two messages is one object, which goes with the last of them', async () => {
  const agent = await agentOf()
  const messages = [
    await receive(service, agent, letterTo(agent, 'shared', 'One')),
    await receive(service, agent, letterTo(agent, 'shared', 'Two')),
  ]
  expect(objectsOf(agent)).toHaveLength(3)
  await owner.api('DELETE', pathOf(agent, messages[0]!))
  await sweepAfter(2 * HOUR, () => objectsOf(agent).length === 2)
  expect((await bytesAt(agent, `${pathOf(agent, messages[1]!)}/attachments/0`)).toString()).toBe('shared')
  await owner.api('DELETE', pathOf(agent, messages[1]!))
  await sweepAfter(0, () => objectsOf(agent).length === 0)
})

test('a file that arrives while the object of its content is being deleted is stored, however late that happens', async () => {
  const agent = await agentOf()
  const first = await receive(service, agent, letterTo(agent, 'contested', 'One'))
  await owner.api('DELETE', pathOf(agent, first))
  let release: (() => void) | undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let waiting = 0
  bucket.before = async (method) => {
    if (method !== 'DELETE') return undefined
    waiting++
    await held
    return undefined
  }
  await sweepAfter(0, () => waiting > 0)
  const second = await receive(service, agent, letterTo(agent, 'contested', 'Two'))
  release!()
  await until(() => objectsOf(agent).length === 2)
  expect((await bytesAt(agent, `${pathOf(agent, second)}/attachments/0`)).toString()).toBe('contested')
})

test.each(['before', 'after'])(
  'a file whose only other message is deleted %s its object is noted again is stored, though the worker runs meanwhile',
  async (order) => {
    const [agent, witness] = [await agentOf(), await agentOf()]
    const deleted = await receive(service, witness, letterTo(witness, 'deleted'))
    clock.advance(HOUR)
    const first = await receive(service, agent, letterTo(agent, 'used again', 'One'))
    clock.advance(10 * 60_000)
    const remove = () => owner.api('DELETE', pathOf(agent, first))
    if (order === 'before') await remove()
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let writing = 0
    bucket.before = async (method) => {
      if (method !== 'PUT') return undefined
      writing++
      await held
      return undefined
    }
    const arriving = receive(service, agent, letterTo(agent, 'used again', 'Two'))
    arriving.catch(() => undefined) // It is awaited below, perhaps later than it fails.
    await until(() => writing === 2)
    if (order === 'after') await remove()
    // What is swept meanwhile shows that the worker has run.
    await owner.api('DELETE', pathOf(witness, deleted))
    // For two minutes at most: what was just noted is left alone for five.
    for (let seconds = 0; objectsOf(witness).length > 0; seconds++) {
      if (seconds < 120) clock.advance(1_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    release!()
    const second = await arriving
    expect((await bytesAt(agent, `${pathOf(agent, second)}/attachments/0`)).toString()).toBe('used again')
  },
)

test('an object that was just noted is left alone for five minutes, however many of its messages are deleted', async () => {
  const agent = await agentOf()
  const noted = { id: randomUUID(), agentId: agent.id, workspaceId: owner.id, hash: randomBytes(32), size: 1 }
  const now = Date.now()
  await service.db.prisma.blob.create({ data: { ...noted, checkAt: new Date(now + HOUR) } })
  const refs = sql`select ${bind(agent.id)}::uuid, ${bind(noted.id)}::uuid`
  for (let deletion = 0; deletion < 3; deletion++)
    await pool.query(composedOf(sql`with ${checkSoon(refs)} select`))
  const { checkAt } = await service.db.prisma.blob.findFirstOrThrow({ where: { id: noted.id } })
  expect(checkAt).toEqual(new Date(now + 5 * 60_000))
})

test("two workspaces never share an object, and one's object does not open for the other", async () => {
  const stranger = await service.workspace('Other')
  const [agent, foreign] = [await agentOf(), await agentOf(stranger)]
  const message = await receive(service, agent, letterTo(agent, 'the same'))
  const other = await receive(service, foreign, letterTo(foreign, 'the same'))
  const names = (of: TestAgent) => objectsOf(of).map((key) => key.split('/').at(-1)!.split('-')[0])
  for (const name of names(agent)) expect(names(foreign)).not.toContain(name)
  expect((await foreign.api('GET', `${pathOf(agent, message)}/attachments/0`)).status).toBe(404)
  const { rows } = await pool.query<{ blob_id: string }>(
    'select blob_id from attachment where message_id = any($1::uuid[]) order by array_position($1::uuid[], message_id)',
    [[message.id, other.id]],
  )
  const [own, theirs] = rows.map(
    ({ blob_id }) => [...bucket.objects.keys()].find((key) => key.endsWith(blob_id))!,
  )
  const whole = bucket.objects.get(theirs!)!
  bucket.objects.set(theirs!, bucket.objects.get(own!)!)
  expect((await foreign.api('GET', `${pathOf(foreign, other)}/attachments/0`)).status).toBe(503)
  bucket.objects.set(theirs!, whole)
})

test('the objects of originals past their time, of deleted agents and of deleted workspaces go', async () => {
  const tenant = await service.workspace('Short-lived')
  const [old, gone, last] = [await agentOf(tenant), await agentOf(tenant), await agentOf(tenant)]
  for (const agent of [old, gone, last]) await receive(service, agent, letterTo(agent, `for ${agent.id}`))
  await tenant.api('DELETE', `/agents/${gone.id}`)
  await sweepAfter(0, () => objectsOf(gone).length === 0)
  await tenant.api('PATCH', '/workspace', { keepRawDays: 1 })
  await sweepAfter(25 * HOUR, () => objectsOf(old).length === 1)
  await tenant.api('DELETE', '/workspace', { name: 'Short-lived' })
  await sweepAfter(25 * HOUR, () => ![...bucket.objects.keys()].some((key) => key.includes(tenant.id)))
  const key = () => pool.query('select from blob_key where workspace_id = $1', [tenant.id])
  await sweepAfter(0, async () => (await key()).rowCount === 0)
})

test('stored contents are moved into the store and back, beside the service and after an interruption', async () => {
  const agent = await agentOf()
  const other = await service.again({ BLOB_URL: '', ROLES: 'smtp' })
  const [host = '', port] = other.smtp!.split(':')
  const old = { ...service, smtp: { host, port: Number(port) } }
  const messages = [
    await receive(old, agent, letterTo(agent, 'to move', 'One')),
    await receive(old, agent, letterTo(agent, 'to move', 'Two')),
  ]
  expect(await inDatabase(agent)).toBe(4)
  const { objectStore } = readConfig(bucket.environment)
  const blobs = openBlobs({ ...service.db, keyring: service.keyring, clock, log: silentLogger }, objectStore)
  const move = (to: 'store' | 'database') => moveContents({ ...service.db, blobs }, { to })
  bucket.before = (method, key) =>
    method === 'PUT' && key.includes(agent.id) && bucket.requests.some((one) => one.includes(agent.id))
      ? 403
      : undefined
  await expect(move('store')).rejects.toMatchObject({ code: 'unavailable' })
  const readable = async () => {
    for (const message of messages) {
      const path = pathOf(agent, message)
      expect((await bytesAt(agent, `${path}/attachments/0`)).toString()).toBe('to move')
      expect((await bytesAt(agent, `${path}/raw`)).toString()).toContain('See the file')
    }
  }
  bucket.before = () => undefined
  await readable()
  expect((await move('store')).contents).toBeGreaterThan(0)
  expect(await inDatabase(agent)).toBe(0)
  await readable()
  const [lost] = objectsOf(agent)
  const whole = bucket.objects.get(lost!)!
  bucket.objects.delete(lost!)
  expect(await move('database')).toMatchObject({ unreadable: 1 })
  bucket.objects.set(lost!, whole)
  expect(await move('database')).toMatchObject({ contents: 1, unreadable: 0 })
  expect(await inDatabase(agent)).toBe(4)
  await readable()
  await sweepAfter(2 * HOUR, () => objectsOf(agent).length === 0)
  await readable()
  await blobs.close()
})
