import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Agent, AmsError, Workspace } from '../../src/client/index.ts'
import { until } from '../support/until.ts'

interface Seen {
  method: string
  path: string
  headers: Headers
  body: string | undefined
}

type Step = Response | Error

const ID = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers })
const failure = (status: number, code: string, headers: Record<string, string> = {}, message = 'Why.') =>
  json(status, { error: { code, message } }, { 'x-request-id': 'r-1', ...headers })
const lost = () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })

/** A service that answers with these steps in turn. */
const scripted = (...steps: Step[]) => {
  const seen: Seen[] = []
  const fetch = async (url: URL | RequestInfo, init: RequestInit = {}) => {
    const { pathname, search } = new URL(String(url))
    seen.push({
      method: init.method ?? 'GET',
      path: pathname + search,
      headers: new Headers(init.headers),
      body: init.body as string | undefined,
    })
    const step = steps.shift()
    if (!step) throw new Error('no more requests were expected')
    if (step instanceof Error) throw step
    return step
  }
  return {
    seen,
    options: { url: 'http://ams.example/base/', token: 'aat_x', fetch: fetch as typeof globalThis.fetch },
  }
}

const SECRET = { name: 'A', kind: 'secret', setBy: 'agent', updatedAt: '2026-11-20T09:30:00.000Z' }

test('a request carries the token and goes below the URL given', async () => {
  const { seen, options } = scripted(json(200, []))
  expect(await new Agent({ ...options, id: ID }).secrets.list()).toEqual([])
  expect(seen[0]).toMatchObject({ method: 'GET', path: `/base/agents/${ID}/secrets` })
  expect(seen[0]?.headers.get('authorization')).toBe('Bearer aat_x')
})

test('a POST is repeated with the same idempotency key until it succeeds', async () => {
  const running = 'A request with this Idempotency-Key is still running.'
  const { seen, options } = scripted(
    lost(),
    failure(503, 'unavailable', { 'retry-after': '0' }),
    failure(409, 'conflict', {}, running),
    json(200, { A: 'v' }),
  )
  expect(await new Agent({ ...options, id: ID }).secrets.reveal(['A'])).toEqual({ A: 'v' })
  expect(seen).toHaveLength(4)
  const keys = new Set(seen.map(({ headers }) => headers.get('idempotency-key')))
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
})

test('two requests have different keys; one can have a key of the caller', async () => {
  const event = { id: 1, type: 'message.received' }
  const { seen, options } = scripted(json(200, event), json(200, event), json(200, event))
  const agent = new Agent({ ...options, id: ID })
  await agent.sendToUrl(ID, 'x')
  await agent.sendToUrl(ID, 'x')
  await agent.sendToUrl(ID, 'x', { key: 'mine' })
  const keys = seen.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('mine')
})

test('an error has the code, status, delay and request id of the response', async () => {
  const { options } = scripted(failure(429, 'rate_limited', { 'retry-after': '3600' }))
  const error = await new Workspace(options).agents
    .list()
    .page()
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AmsError)
  expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfter: 3600, requestId: 'r-1' })
})

test.each([
  [400, 'invalid_input'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [409, 'conflict'],
])('%i is not repeated', async (status, code) => {
  const { seen, options } = scripted(failure(status, code))
  await expect(new Workspace(options).agents.list().page()).rejects.toMatchObject({ code, status })
  expect(seen).toHaveLength(1)
})

test('a DELETE whose first response was lost has succeeded when nothing is there any more', async () => {
  const { options } = scripted(lost(), failure(404, 'not_found'))
  await expect(new Agent({ ...options, id: ID }).secrets.delete('A')).resolves.toBeUndefined()
  const { options: others } = scripted(failure(404, 'not_found'))
  await expect(new Agent({ ...others, id: ID }).secrets.delete('A')).rejects.toMatchObject({
    code: 'not_found',
  })
  const { options: reading } = scripted(lost(), failure(404, 'not_found'))
  await expect(new Agent({ ...reading, id: ID }).read()).rejects.toMatchObject({ code: 'not_found' })
})

test('after the last retry the error says that the service cannot be reached, and why', async () => {
  const { seen, options } = scripted(lost(), lost())
  await expect(new Workspace({ ...options, retries: 1 }).agents.list().page()).rejects.toMatchObject({
    code: 'unreachable',
    message: 'Cannot reach http://ams.example/base: ECONNRESET',
  })
  expect(seen).toHaveLength(2)
})

test('that requests wait for the service is told once, until it answers again', async () => {
  const { options } = scripted(lost(), lost(), json(200, []), json(200, []), lost(), json(200, []))
  const told: string[] = []
  const agent = new Agent({ ...options, id: ID, onWaiting: ({ message }) => told.push(message) })
  await agent.secrets.list()
  await agent.secrets.list()
  expect(told).toEqual(['Cannot reach http://ams.example/base: ECONNRESET'])
  await agent.secrets.list()
  expect(told).toHaveLength(2)
})

test('that requests are to come more slowly, or that the first attempt still runs, is not told as an outage', async () => {
  const running = failure(409, 'conflict', {}, 'A request with this Idempotency-Key is still running.')
  const slower = failure(429, 'rate_limited', { 'retry-after': '0' })
  const { options } = scripted(slower, running, json(200, {}))
  const told: string[] = []
  const agent = new Agent({ ...options, id: ID, onWaiting: ({ message }) => told.push(message) })
  await agent.secrets.reveal(['A'])
  expect(told).toEqual([])
})

test('a loop waits for the service only if the number of retries is not given', async () => {
  const { seen, options } = scripted(lost())
  await expect(new Agent({ ...options, id: ID, retries: 0 }).messages().next()).rejects.toMatchObject({
    code: 'unreachable',
  })
  expect(seen).toHaveLength(1)
})

test('an error names the field that broke a rule', async () => {
  const { options } = scripted(
    failure(400, 'invalid_input', {}, 'to[0]: must be an email address'),
    failure(404, 'not_found', {}, 'to: nobody'),
  )
  const agent = new Agent({ ...options, id: ID })
  await expect(agent.read()).rejects.toMatchObject({ code: 'invalid_input', field: 'to[0]' })
  await expect(agent.read()).rejects.toMatchObject({ code: 'not_found', field: undefined })
})

test('requests leave nothing on a signal that lives longer, whether they succeed, fail or bring a file', async () => {
  const refused = () => failure(404, 'not_found')
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) })
  const steps = [
    json(200, []),
    refused(),
    new Response('bytes'),
    new Response('bytes'),
    new Response(endless),
  ]
  const { options } = scripted(...steps)
  const agent = new Agent({ ...options, id: ID })
  const { signal } = new AbortController()
  await agent.secrets.list({ signal })
  await expect(agent.read({ signal })).rejects.toThrow()
  expect(await new Response(await agent.export({ signal })).text()).toBe('bytes')
  await (await agent.export({ signal })).cancel()
  await until(() => getEventListeners(signal, 'abort').length === 0)
  const leaving = new AbortController()
  const file = await agent.export({ signal: leaving.signal })
  leaving.abort(new Error('enough'))
  await expect(new Response(file).text()).rejects.toThrow('enough')
})

test('a redirect and a page of a proxy are no answers of the service', async () => {
  const moved = new Response('', { status: 301, headers: { location: 'https://elsewhere.example' } })
  const { options } = scripted(moved, new Response('<html>', { status: 200 }))
  const workspace = new Workspace(options)
  await expect(workspace.agents.list().page()).rejects.toMatchObject({ code: 'bad_response', status: 301 })
  await expect(workspace.agents.list().page()).rejects.toMatchObject({ code: 'bad_response', status: 200 })
})

test('an attempt that takes too long is given up', async () => {
  const fetch = (_: unknown, { signal }: RequestInit = {}) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const options = { url: 'http://x.example', token: 't', fetch: fetch as typeof globalThis.fetch }
  await expect(new Workspace({ ...options, retries: 0, timeoutMs: 20 }).read()).rejects.toMatchObject({
    code: 'unreachable',
  })
})

test('an aborted signal ends a request and its retries with its reason', async () => {
  const { seen, options } = scripted(failure(503, 'unavailable', { 'retry-after': '30' }))
  const leaving = new AbortController()
  const asked = new Workspace(options).read({ signal: leaving.signal })
  const reason = new Error('enough')
  queueMicrotask(() => leaving.abort(reason))
  await expect(asked).rejects.toBe(reason)
  expect(seen.length).toBeLessThan(2)
})

test.each([
  [{ url: 'ftp://x', token: 't' }, 'url'],
  [{ url: 'not a url', token: 't' }, 'url'],
  [{ url: 'http://x.example', token: '' }, 'token'],
])('%j is refused at once', (options, name) => {
  expect(() => new Agent(options)).toThrow(new RegExp(`^${name}: `))
})

test("an agent's id is asked for once, and again after a failure", async () => {
  const { seen, options } = scripted(
    failure(401, 'unauthorized'),
    json(200, [{ id: ID }]),
    json(200, [SECRET]),
    json(200, [SECRET]),
  )
  const agent = new Agent(options)
  await expect(agent.id()).rejects.toMatchObject({ code: 'unauthorized' })
  await agent.secrets.list()
  await agent.secrets.list()
  expect(seen.map(({ path }) => path)).toEqual([
    '/base/agents?limit=2',
    '/base/agents?limit=2',
    `/base/agents/${ID}/secrets`,
    `/base/agents/${ID}/secrets`,
  ])
})

test("a member's token needs the agent's id", async () => {
  const { options } = scripted(json(200, [{ id: ID }, { id: 'other' }]))
  await expect(new Agent(options).id()).rejects.toMatchObject({ code: 'invalid_input' })
})

test('a list reads its pages as they are needed', async () => {
  const page = (items: number[], nextCursor: string | null) =>
    json(200, { items: items.map((n) => ({ id: `${n}`, attachments: [] })), nextCursor })
  const { seen, options } = scripted(page([1, 2], 'c 2'), page([3], null))
  const found: string[] = []
  const since = new Date('2026-11-20T00:00:00Z')
  for await (const { id } of new Agent({ ...options, id: ID }).list({ q: 'a&b', since, limit: 2 }))
    found.push(id)
  expect(found).toEqual(['1', '2', '3'])
  const queries = seen.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))
  const filter = { q: 'a&b', since: '2026-11-20T00:00:00.000Z', limit: '2' }
  expect(queries).toEqual([filter, { ...filter, cursor: 'c 2' }])
})

test('the token is never sent to the host of a Message URL', async () => {
  const { seen, options } = scripted(json(200, { id: 1 }))
  await new Agent({ ...options, id: ID }).sendToUrl(`https://evil.example/a/${ID}`, 'x')
  expect(seen[0]?.path).toBe(`/base/a/${ID}`)
})

test('the list of agents follows the links to its pages, at this service only', async () => {
  const next = '<https://public.example/agents?limit=1000&cursor=a%2Bb>; rel="next"'
  const { seen, options } = scripted(json(200, [{ id: '1' }], { link: next }), json(200, [{ id: '2' }]))
  expect(await new Workspace(options).agents.list().all()).toEqual([{ id: '1' }, { id: '2' }])
  expect(seen.map(({ path }) => path)).toEqual(['/base/agents', '/base/agents?cursor=a%2Bb'])
})

describe('a stream', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** An agent whose streams open one after the other and then wait to be written to; when they were asked for. */
  const streamed = () => {
    vi.useFakeTimers()
    const queries: string[] = []
    const streams: ReadableStreamDefaultController<Uint8Array>[] = []
    const fetch = async (url: URL | RequestInfo, { method, signal }: RequestInit = {}) => {
      if (method === 'PUT') return json(200, { id: 'connection' })
      queries.push(new URL(String(url)).search)
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        streams.push(controller)
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      }
      const headers = { 'content-type': 'text/event-stream' }
      return new Response(new ReadableStream({ start }), { headers })
    }
    const write = (text: string) => streams.at(-1)?.enqueue(new TextEncoder().encode(text))
    const close = () => streams.at(-1)?.close()
    const agent = new Agent({ ...scripted().options, fetch: fetch as typeof globalThis.fetch, id: ID })
    return { queries, write, close, events: agent.events({ after: 4 }) }
  }
  const frame = (id: number) => `id: ${id}\ndata: ${JSON.stringify({ id, type: 'message.received' })}\n\n`

  test('on which nothing arrives for 45 seconds is opened again where it was, and heartbeats keep it open', async () => {
    const { queries, write, events } = streamed()
    const next = events.next()
    for (let beat = 0; beat < 5; beat++) {
      await vi.advanceTimersByTimeAsync(44_000)
      write(': heartbeat\n\n')
    }
    write(frame(5))
    expect((await next).value).toMatchObject({ event: { id: 5 } })
    const after = events.next()
    await vi.advanceTimersByTimeAsync(44_900)
    expect(queries).toEqual(['?after=4'])
    await vi.advanceTimersByTimeAsync(1_200)
    expect(queries).toEqual(['?after=4', '?after=5'])
    write(frame(6))
    expect((await after).value).toMatchObject({ event: { id: 6 } })
  })

  test('is not given up while its reader works on an event, however long that takes', async () => {
    const { queries, write, events } = streamed()
    const next = events.next()
    await vi.advanceTimersByTimeAsync(0)
    write(frame(5))
    expect((await next).value).toMatchObject({ event: { id: 5 } })
    await vi.advanceTimersByTimeAsync(600_000)
    write(frame(6))
    expect((await events.next()).value).toMatchObject({ event: { id: 6 } })
    expect(queries).toEqual(['?after=4'])
  })

  test('goes on after what was truncated when it is opened again', async () => {
    const { queries, write, close, events } = streamed()
    const next = events.next()
    await vi.advanceTimersByTimeAsync(0)
    write('event: truncated\ndata: {"nextId": 9}\n\n')
    expect((await next).value).toEqual({ type: 'truncated', nextId: 9 })
    const after = events.next()
    close()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries).toEqual(['?after=4', '?after=8'])
    write(frame(9))
    expect((await after).value).toMatchObject({ event: { id: 9 } })
  })

  test('that ends right after its opening is opened again less and less often', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9)
    const { queries, write, close, events } = streamed()
    const next = events.next()
    await vi.advanceTimersByTimeAsync(0)
    for (const [n, seconds] of [1, 2, 4, 8].entries()) {
      write(': open\n\n')
      close()
      await vi.advanceTimersByTimeAsync(seconds * 800)
      expect(queries).toHaveLength(n + 1)
      await vi.advanceTimersByTimeAsync(seconds * 200)
      expect(queries).toHaveLength(n + 2)
    }
    write(frame(5))
    expect((await next).value).toMatchObject({ event: { id: 5 } })
  })

  test('of an agent that was deleted ends with an error', async () => {
    const { options } = scripted(failure(404, 'not_found'))
    const next = new Agent({ ...options, id: ID }).events({ after: 0 }).next()
    await expect(next).rejects.toMatchObject({ code: 'not_found' })
  })
})
