import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createClient } from 'graphql-sse'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { hashToken } from '../../src/workspace/token/token.ts'
import { CELL_SECRET, startCells, type TestCells } from '../support/cells.ts'
import { cookieClient } from '../support/cookie-client.ts'
import { openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import { rawHttp, rawHttpInTurn } from '../support/raw-http.ts'
import { apiOf, createTestAgent, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** HTTP through a front to two installations. */

let world: TestCells
/** A workspace and an agent in each installation, as they are reached through the front. */
let owners: [Tenant, Tenant]
let agents: [TestAgent, TestAgent]
beforeAll(async () => {
  world = await startCells({ environment: { MESSAGE_URL_BASE: 'https://m.example.com/to' } })
  const { http } = world.service
  const ownerOf = async (at: 0 | 1): Promise<Tenant> => {
    const owner = await world.cells[at].workspace(`Workspace ${at}`)
    return { ...owner, api: apiOf(http, owner.token) }
  }
  owners = [await ownerOf(0), await ownerOf(1)]
  agents = [
    await createTestAgent(world.service, owners[0], 'First'),
    await createTestAgent(world.service, owners[1], 'Second'),
  ]
  for (const [at, agent] of agents.entries())
    await owners[at]!.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})
const both = [0, 1] as const
const base = () => world.service.http

describe('a request', () => {
  test.each(both)('with a token goes to the installation of its workspace (%i)', async (at) => {
    const { status, body } = await owners[at].api('GET', '/workspace')
    expect({ status, name: body.name }).toEqual({ status: 200, name: `Workspace ${at}` })
    const listed = await owners[at].api('GET', '/agents')
    expect(listed.body.map(({ id }: { id: string }) => id)).toEqual([agents[at].id])
    expect(agents[at].address).toMatch(at === 0 ? /@one\.example$/ : /@two\.example$/)
  })

  test('for an agent of another installation gets the same answer as for one that does not exist', async () => {
    const other = await owners[0].api('GET', `/agents/${agents[1].id}`)
    const none = await owners[0].api('GET', `/agents/${randomUUID()}`)
    expect({ status: other.status, text: other.text }).toEqual({ status: 404, text: none.text })
  })

  test('with a token that nobody has is refused, and no installation sees the token', async () => {
    const token = `amt_${randomBytes(32).toString('hex').slice(0, 43)}`
    expectFailure(await apiOf(base(), token)('GET', '/agents'), 'unauthorized')
    for (const { httpTap } of world.cells) expect(httpTap.sent()).not.toContain(token)
  })

  test('with another kind of secret is refused, and no installation sees it', async () => {
    const Authorization = `Basic ${Buffer.from('ann:a secret of another service').toString('base64')}`
    expect((await fetch(`${base()}/agents`, { headers: { Authorization } })).status).toBe(401)
    for (const { httpTap } of world.cells) expect(httpTap.sent()).not.toContain(Authorization)
  })

  test('never shows a token to an installation that does not have it', async () => {
    const { data } = await (
      await fetch(`${base()}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${owners[1].token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query: '{ viewer { id } }' }),
      })
    ).json()
    expect(data.viewer.id).toBe(owners[1].member)
    const [first, second] = world.cells.map(({ httpTap }) => httpTap.sent())
    for (const { token } of [owners[1], agents[1]]) expect(first).not.toContain(token)
    for (const { token } of [owners[0], agents[0]]) expect(second).not.toContain(token)
    expect(second).toContain(owners[1].token)
  })

  test('without a token is answered by any installation', async () => {
    for (const path of ['/openapi.json', '/docs', '/app/sign-in', '/llms.txt'])
      expect([path, (await fetch(base() + path)).status]).toEqual([path, 200])
    expectFailure(await apiOf(base(), null)('GET', '/agents'), 'unauthorized')
  })

  test('without a token names its agent first, wherever it is for one installation', async () => {
    const { paths } = (await apiOf(base(), null)('GET', '/openapi.json')).body
    const named = Object.keys(paths).filter(
      (path) => path.includes('{') && !/^\/(?:a|agents)\/\{id\}/.test(path),
    )
    expect(named.length).toBeGreaterThan(5)
    for (const path of named)
      for (const method of Object.keys(paths[path])) {
        const url = path.replaceAll(/\{\w+\}/g, randomUUID())
        expectFailure(await apiOf(base(), null)(method.toUpperCase(), url), 'unauthorized')
      }
  })

  test('of what a front does not serve finds nothing there', async () => {
    for (const path of ['/cell/find', '/cell/find/'])
      expectFailure(await apiOf(base(), null)('GET', path), 'not_found')
  })

  test('has the id of the installation’s log line in its answer, once', async () => {
    const { headers } = await owners[0].api('GET', '/workspace')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test.each(both)('Message URLs work with the path of MESSAGE_URL_BASE (%i)', async (at) => {
  const agent = await createTestAgent(world.service, owners[at], 'With a Message URL')
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(`${base()}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
  await until(() => stream.opening !== '')
  for (const path of [`/to/a/${agent.id}`, `/a/${agent.id}`])
    expect((await owners[at].api('POST', path, { text: path })).body.text).toBe(path)
  stream.close()
  await agent.api('DELETE', `/agents/${agent.id}`)
})

describe('an event stream with a token of its own', () => {
  const open = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${base()}/graphql/stream?${token}`, { headers: { Accept: 'text/event-stream', ...headers } })

  test.each(both)('is opened where it was reserved (%i)', async (at) => {
    const Authorization = `Bearer ${owners[at].token}`
    const reserve = async () =>
      (await fetch(`${base()}/graphql/stream`, { method: 'PUT', headers: { Authorization } })).text()
    const [first, second] = [await reserve(), await reserve()]
    const other = world.cells[1 - at]!.httpTap
    for (const opening of [
      open(`token=${first.toUpperCase().replace('-', '%2d')}&token=${randomUUID()}`),
      open('', { 'X-GraphQL-Event-Stream-Token': second }),
    ]) {
      const { status, body } = await opening
      expect(status).toBe(200)
      await body!.cancel()
    }
    for (const token of [first, second]) expect(other.sent().toLowerCase()).not.toContain(token)
  })

  test('that nobody has reserved is refused, and no installation sees the token', async () => {
    const [inQuery, inHeader] = [randomUUID(), randomUUID()]
    expect((await open(`token=${inQuery}`)).status).toBe(401)
    expect((await open(`token=${inQuery}`, { 'X-GraphQL-Event-Stream-Token': inHeader })).status).toBe(401)
    for (const { httpTap } of world.cells) {
      expect(httpTap.sent()).not.toContain(inQuery)
      expect(httpTap.sent()).not.toContain(inHeader)
    }
  })
})

describe('the question of fronts', () => {
  const ask = (authorization: string, keys: unknown = []) =>
    fetch(`${world.cells[0].http}/cell/find`, {
      method: 'POST',
      headers: { Authorization: authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ keys }),
    })

  test('is answered with the secret alone, of everybody else as if it did not exist', async () => {
    expect((await ask(`Bearer ${CELL_SECRET}`)).status).toBe(200)
    const missing = await (await fetch(`${world.cells[0].http}/no/such/path`)).json()
    for (const wrong of ['', 'Bearer ', `Bearer ${CELL_SECRET}x`, `Bearer ${owners[0].token}`]) {
      const answer = await ask(wrong)
      expect([wrong, answer.status, await answer.json()]).toEqual([wrong, 404, missing])
    }
  })

  test('names the workspace of what it has, and nothing else', async () => {
    const keys = [
      `id:${agents[0].id}`,
      `id:${agents[1].id}`,
      `address:${agents[0].address}`,
      'domain:one.example',
    ]
    const answer = await ask(`Bearer ${CELL_SECRET}`, keys)
    expect(await answer.json()).toEqual({
      found: {
        [`id:${agents[0].id}`]: owners[0].id,
        [`address:${agents[0].address}`]: owners[0].id,
        'domain:one.example': null,
      },
    })
    for (const bad of ['x', ['x'], ['card:1'], Array(501).fill('domain:a.example')])
      expect((await ask(`Bearer ${CELL_SECRET}`, bad)).status).toBe(400)
    // Others' keys are in the same question.
    const odd = await ask(`Bearer ${CELL_SECRET}`, ['token:x', 'id:1', `id:${agents[0].id}`])
    expect(await odd.json()).toEqual({ found: { [`id:${agents[0].id}`]: owners[0].id } })
  })
})

describe('a stranger', () => {
  test('who asks for what no installation can have takes none of them away from others', async () => {
    const label = (place: number) =>
      String.fromCodePoint(...Array.from({ length: 12 }, (_, n) => 0x4e00 + place * 1500 + n * 97))
    const email = `${'a'.repeat(180)}@${[0, 1, 2, 3, 4].map(label).join('.')}.de`
    await cookieClient(world.service).submit('/app/sign-in/email', { email })
    // A token that the front does not know yet.
    const { token } = await world.cells[0].workspace()
    expect((await apiOf(base(), token)('GET', '/workspace')).status).toBe(200)
  })
})

describe('what flows', () => {
  test.each(both)('arrives in streams, subscriptions and MCP as it happens (%i)', async (at) => {
    const agent = agents[at]
    const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    const stream = await openEvents(`${base()}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
    const headers = { Authorization: `Bearer ${agent.token}` }
    const subscriber = createClient({ url: `${base()}/graphql`, headers, retryAttempts: 0 })
    const seen: unknown[] = []
    const query = `subscription { messageReceived(agentId: "${agent.id}", after: 0) { message { subject } } }`
    subscriber.subscribe(
      { query },
      {
        next: (value) => void seen.push(value),
        error: (error) => void seen.push(error),
        complete: () => undefined,
      },
    )
    const mcp = await openMcp(base(), agent.token)
    await until(() => stream.opening !== '')
    await post(world.service, { from: 'ann@example.com', to: agent.address, subject: 'Live', text: 'now' })
    const [frame] = await stream.got(1)
    expect(frame!.event).toBe('message.received')
    await until(() => seen.length > 0)
    expect(JSON.stringify(seen[0])).toContain('Live')
    const { result } = await mcp.call('list_messages')
    expect(JSON.stringify(result)).toContain('Live')
    await mcp.close()
    subscriber.dispose()
    stream.close()
  })

  test('has 18 MB in both directions unchanged, without being kept', async () => {
    const content = randomBytes(18 * 1024 * 1024)
    const raw = ['From: ann@example.com', `To: ${agents[1].address}`, 'Subject: Large', 'MIME-Version: 1.0']
    raw.push(
      'Content-Type: application/octet-stream; name=large.bin',
      'Content-Transfer-Encoding: base64',
      '',
    )
    const mbox = `From ann@example.com Thu Jan  1 00:00:00 2026\n${raw.join('\n')}\n${content.toString('base64').replace(/.{76}/g, '$&\n')}\n\n`
    const imported = await fetch(`${base()}/agents/${agents[1].id}/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owners[1].token}`, 'Content-Type': 'application/mbox' },
      body: mbox,
    })
    expect([imported.status, await imported.json()]).toMatchObject([200, { imported: 1 }])
    const [message] = (await agents[1].api('GET', `/agents/${agents[1].id}/messages?q=Large`)).body.items
    const file = await fetch(`${base()}/agents/${agents[1].id}/messages/${message.id}/attachments/0`, {
      headers: { Authorization: `Bearer ${agents[1].token}` },
    })
    expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true)
  })

  test.each([
    ['/agents', 8_000_000, { status: 413, body: expect.stringContaining('must be at most 1048576 bytes') }],
    ['/inbound/email', 8_000_000, { status: 403, body: expect.stringContaining('X-Signature') }],
  ])(
    'to %s has its refusal for a client that reads once it has sent everything',
    async (path, length, answer) => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owners[0].token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
      expect(await rawHttpInTurn(base(), head, Buffer.alloc(length, ' '))).toMatchObject(answer)
    },
  )

  test('has an early refusal for a client that still sends', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(8 * 1024 * 1024) })
    expectFailure(await owners[0].api('POST', '/agents', body), 'invalid_input', /at most/, 413)
    const [socket, head] = [
      connect(Number(new URL(base()).port), '127.0.0.1'),
      `POST /agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owners[0].token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ]
    let text = ''
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        text += bytes
      })
    socket.write(head)
    const chunk = 'x'.repeat(64 * 1024)
    for (let n = 0; n < 40; n++) socket.write(`10000\r\n${chunk}\r\n`)
    await until(() => text !== '' || socket.closed)
    // An installation that closes its connection with unread data may take its answer back, and the front says so.
    expect(text).toMatch(/^HTTP\/1\.1 (?:413|503) /)
    socket.destroy()
  })

  test('waits for a client that reads late, and nobody else does', async () => {
    const { port } = new URL(base())
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    const [large] = (await agents[1].api('GET', `/agents/${agents[1].id}/messages?q=Large`)).body.items
    const path = `/agents/${agents[1].id}/messages/${large.id}/attachments/0`
    socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agents[1].token}\r\n\r\n`)
    await until(() => socket.readableLength > 0 || socket.bytesRead > 0)
    // Others are not kept waiting by it.
    expect((await agents[1].api('GET', '/agents')).status).toBe(200)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    socket.resume()
    await until(() => bytes > 18 * 1024 * 1024)
    socket.destroy()
  })
})

describe('a browser', () => {
  const signIn = async (at: 0 | 1) => {
    const deps = { ...world.cells[at].db, clock: systemClock, publicUrl: () => base() }
    const { url } = await createOperatorLink(deps, { email: owners[at].email })
    const browser = cookieClient(world.service)
    expect((await browser.submit('/app/sign-in/link', { link: url })).status).toBe(303)
    return browser
  }

  test.each(both)('signs in with a link, a token, and is known by its cookie (%i)', async (at) => {
    const browser = await signIn(at)
    const { data } = (await (await browser.ask('{ viewer { id } }')).json()) as {
      data: { viewer: { id: string } }
    }
    expect(data.viewer.id).toBe(owners[at].member)
    const other = cookieClient(world.service)
    for (const path of ['/app/sign-in/token/', '/app/x/../sign-in/token', '/app/sign-in/token']) {
      await other.submit(path, { token: owners[at].token })
      expect([path, (await other.ask('{ viewer { id } }')).status]).toEqual([path, 200])
      other.cookies.clear()
    }
    await other.submit('/app/sign-in/token', { token: owners[at].token })
    expect((await other.get('/app/passkeys')).status).toBe(200)
    const elsewhere = world.cells[1 - at]!.httpTap.sent()
    for (const { cookies } of [browser, other])
      for (const value of cookies.values()) expect(elsewhere).not.toContain(value)
  })

  test('that asks with a token shows its session to no other installation than its own', async () => {
    const [cookie] = (await signIn(1)).cookies
    const headers = { authorization: `Bearer ${owners[0].token}`, cookie: cookie!.join('=') }
    expect((await fetch(`${base()}/workspace`, { headers })).status).toBe(200)
    expect(world.cells[0].httpTap.sent()).not.toContain(cookie![1])
  })

  test('with the cookies of two sessions is in neither: another program on its host may have set one', async () => {
    const cookies = await Promise.all(both.map(async (at) => [...(await signIn(at)).cookies]))
    const headers = {
      ...{ 'content-type': 'application/json', 'x-requested-by': 'test', origin: base() },
      cookie: cookies.flatMap((each) => each.map(([name, value]) => `${name}=${value}`)).join('; '),
    }
    const body = JSON.stringify({ query: '{ viewer { id } }' })
    expect((await fetch(`${base()}/graphql`, { method: 'POST', headers, body })).status).toBe(401)
    for (const { httpTap } of world.cells)
      for (const [[, value]] of cookies as [[string, string]][]) expect(httpTap.sent()).not.toContain(value)
  })

  test('gets the same page for a link that nobody knows, which no installation sees', async () => {
    const link = `asl_${randomBytes(40).toString('hex').slice(0, 43)}`
    const page = await cookieClient(world.service).submit('/app/sign-in/link', { link })
    expect([page.status, page.text]).toEqual([401, expect.stringContaining('This link is not valid')])
    expect((await cookieClient(world.service).get(`/join/ait_${link.slice(4)}`)).status).toBe(404)
    for (const { httpTap } of world.cells) expect(httpTap.sent()).not.toContain(link.slice(4))
  })

  /** The link in the newest mail that an installation has written. */
  const mailed = (dataDir: string, address: string): string | null => {
    const outbox = join(dataDir, 'outbox')
    const mails = existsSync(outbox)
      ? readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
      : []
    const mail = mails.findLast((each) => each.includes(`To: ${address}`))
    return /asl_\w{43}/.exec(mail?.replaceAll('=\r\n', '') ?? '')?.[0] ?? null
  }

  test('gets links by email from every installation in which its person is a member, and each works there', async () => {
    const email = 'in-both@example.com'
    const made = await Promise.all(world.cells.map((cell) => cell.workspace('Both', email)))
    const browser = cookieClient(world.service)
    const page = await browser.submit('/app/sign-in/email', { email })
    expect([page.status, browser.cookies.size]).toEqual([200, 1])
    for (const [at, { dataDir }] of world.cells.entries()) {
      const link = await until(() => mailed(dataDir, email))
      expect((await browser.submit('/app/sign-in/link', { link })).status).toBe(303)
      const answer = await (await browser.ask('{ viewer { id } }')).json()
      expect(answer).toEqual({ data: { viewer: { id: made[at]!.member } } })
    }
  })
})

test('requests follow a token to another installation', async () => {
  const [leaving, arriving] = await Promise.all(
    owners.map((owner, at) => createTestAgent(world.service, owner, `Moving ${at}`)),
  )
  const before = await leaving!.api('GET', '/viewer')
  expect(before.body.workspace?.id ?? before.text).toContain(owners[0].id)
  const pools = world.cells.map(({ db }) => db.pool)
  const hash = hashToken(leaving!.token)
  await pools[0]!.query('delete from token where hash = $1', [hash])
  await pools[1]!.query('update token set hash = $1 where hash = $2', [hash, hashToken(arriving!.token)])
  const statuses = new Set<number>()
  await until(async () => {
    const { status, text } = await leaving!.api('GET', '/viewer')
    statuses.add(status)
    return text.includes(owners[1].id)
  })
  expect([...statuses]).toEqual([200])
  // What has a body cannot be sent twice: the client does so.
  expect((await leaving!.api('POST', `/agents/${arriving!.id}/drafts`, { text: 'x' })).status).toBe(201)
})

describe('hostile clients', () => {
  const head = (...lines: string[]) =>
    `${['GET /agents HTTP/1.1', 'Host: x', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`
  const authorized = () => `Authorization: Bearer ${owners[0].token}`
  /** What an installation gets of the last request that contains a mark. */
  const got = (mark: string) =>
    world.cells[0].httpTap
      .sent()
      .split('\r\n\r\n')
      .findLast((part) => part.includes(mark)) ?? ''

  test('cannot say who they are, nor name headers that an installation believes', async () => {
    const mark = `X-Mark: ${randomUUID()}`
    const lines = [
      'X-Forwarded-For: 192.0.2.6',
      'X-Forwarded-Host: evil.example',
      'Forwarded: for=192.0.2.6',
      'X-Real-IP: 192.0.2.6',
      'X-Request-Id: forged',
    ]
    const proxied = 'PROXY TCP4 203.0.113.9 192.0.2.1 4000 80\r\n'
    const answer = await rawHttp(base(), proxied, head(authorized(), mark, ...lines))
    expect(answer.status).toBe(200)
    expect(got(mark)).toContain('X-Forwarded-For: 203.0.113.9')
    expect(got(mark)).not.toMatch(/192\.0\.2\.6|evil|forged/)
  })

  test('a proxy that is trusted names the client in its last word', async () => {
    const mark = `X-Mark: ${randomUUID()}`
    await rawHttp(base(), head(authorized(), mark, 'X-Forwarded-For: 192.0.2.6, 203.0.113.10'))
    expect(got(mark)).toMatch(/X-Forwarded-For: 203\.0\.113\.10$/)
  })

  test('headers of one connection stay there', async () => {
    const mark = `X-Mark: ${randomUUID()}`
    const lines = [
      'Connection: close, X-Secret-Hop',
      'X-Secret-Hop: 1',
      'TE: trailers',
      'Upgrade: websocket',
      'Proxy-Authorization: Basic x',
    ]
    await rawHttp(base(), head(authorized(), mark, ...lines))
    expect(got(mark)).not.toMatch(/X-Secret-Hop|^TE:|Upgrade|Proxy-Auth/im)
  })

  test.each([
    [
      'both lengths',
      'Content-Length: 4\r\nTransfer-Encoding: chunked',
      '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5', 'abcde'],
    [
      'an obscured encoding',
      'Transfer-Encoding: xchunked',
      '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
    ['a folded encoding', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 4', '0\r\n\r\n'],
    ['a bare line feed', 'X: 1\nTransfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n'],
    ['a negative length', 'Content-Length: -1', ''],
    ['a bad chunk', 'Transfer-Encoding: chunked', 'zz\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('smuggle nothing with %s', async (_, lines, body) => {
    const request = `POST /agents HTTP/1.1\r\nHost: x\r\n${authorized()}\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`
    const socket = connect(Number(new URL(base()).port), '127.0.0.1')
    let text = ''
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        text += bytes
      })
    socket.end(request)
    await until(() => socket.closed)
    expect(text).not.toMatch(/^HTTP\/1\.1 [23]/m)
    for (const { httpTap } of world.cells) expect(httpTap.sent()).not.toContain('smuggled')
    expect((await owners[0].api('GET', '/agents')).status).toBe(200)
  })

  test('get one answer for each pipelined request, in order', async () => {
    const one = (at: 0 | 1) =>
      `GET /workspace HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owners[at].token}\r\n`
    const socket = connect(Number(new URL(base()).port), '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.write(`${one(0)}\r\n${one(1)}\r\n${one(0)}Connection: close\r\n\r\n`)
    await until(() => socket.closed || socket.readableEnded)
    expect(text.match(/Workspace \d/g)).toEqual(['Workspace 0', 'Workspace 1', 'Workspace 0'])
  })
})

describe('an installation that is down', () => {
  test('concerns its own agents alone, and nobody once it is back', async () => {
    const [, { httpTap }] = world.cells
    const stranger = apiOf(base(), `amt_${'x'.repeat(43)}`)
    await httpTap.cut()
    const down = await owners[1].api('GET', '/workspace')
    expectFailure(down, 'unavailable')
    expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0)
    expectFailure(await owners[1].api('POST', '/agents', { name: 'Late', icon: 'bot' }), 'unavailable')
    expect((await owners[0].api('GET', '/workspace')).status).toBe(200)
    const fresh = await createTestAgent(world.service, owners[0], 'Meanwhile')
    expect((await fresh.api('GET', `/agents/${fresh.id}`)).status).toBe(200)
    // It may be a token of the installation that is down.
    expectFailure(await stranger('GET', '/agents'), 'unavailable')
    expect((await fetch(`${base()}/readyz`)).status).toBe(200)
    expect((await fetch(`${base()}/app/sign-in`)).status).toBe(200)
    await httpTap.mend()
    await until(async () => (await owners[1].api('GET', '/workspace')).status === 200)
    await until(async () => (await stranger('GET', '/agents')).status === 401)
  })

  test('all of them: the front is not ready, but runs', async () => {
    for (const { httpTap } of world.cells) await httpTap.cut()
    await until(async () => (await fetch(`${base()}/readyz`)).status === 503)
    expect((await fetch(`${base()}/healthz`)).status).toBe(200)
    expect(await (await fetch(`${base()}/metrics`)).text()).toMatch(/^ams_front_cells_down 2$/m)
    for (const { httpTap } of world.cells) await httpTap.mend()
    await until(async () => (await fetch(`${base()}/readyz`)).status === 200)
  })
})

test.each(both)('links to files work for whoever has them (%i)', async (at) => {
  const agent = agents[at]
  const attachments = [{ filename: 'a.txt', content: 'in a file' }]
  await post(world.service, {
    from: 'ann@example.com',
    to: agent.address,
    subject: 'With a file',
    text: 'one',
    attachments,
  })
  const [{ id }] = (await agent.api('GET', `/agents/${agent.id}/messages?limit=1`)).body.items
  const link = await agent.api('POST', `/agents/${agent.id}/messages/${id}/attachments/0/link`, {})
  expect(await (await fetch(link.body.url)).text()).toBe('in a file')
})
