import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deleteAgent } from '../../src/agent/agent.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { MESSAGE_RECEIVED } from '../../src/event/event.ts'
import { Dialler } from '../../src/outgoing-http/dial.ts'
import { CallbackError } from '../../src/webhook/challenge.ts'
import { endSubscriptions } from '../../src/webhook/end-subscriptions.ts'
import {
  MAX_SUBSCRIPTIONS,
  pruneSubscriptions,
  type SubscribeDeps,
  type SubscribeInput,
  subscribeWebhook,
  TooManySubscriptions,
  unsubscribeWebhook,
} from '../../src/webhook/subscribe.ts'
import { createTerminationNotices } from '../../src/webhook/termination-notice.ts'
import { removeWebhook } from '../../src/webhook/webhook.ts'
import { removeMember } from '../../src/workspace/member/member.ts'
import { revokeToken } from '../../src/workspace/token/bearer-token.ts'
import type { Viewer } from '../../src/workspace/token/viewer.ts'
import { openTestDatabase } from '../support/database.ts'
import { bodyOf, proving, withoutChallenges } from '../support/mcp-receiver.ts'
import { createReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

/** MCP clients' subscriptions on the webhook lanes, with a clock that the test moves. */

const db = await openTestDatabase()
let bench = createWebhookBench(db)
let receiver = await createReceiver()
beforeEach(async () => {
  bench = createWebhookBench(db)
  receiver = await createReceiver()
})
afterEach(async () => {
  await bench.close()
  await receiver.close()
})
afterAll(() => receiver.close())

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const deps = (): SubscribeDeps => ({
  ...bench.operations,
  dialler: new Dialler({ allow: bench.operations.allow, lookup: bench.operations.lookup }),
  rates: { take: () => ({ allowed: true, limit: 1, remaining: 1, resetSeconds: 1 }) },
})

/** An agent whose token is in the database. */
const agentWithToken = async (): Promise<Viewer> => {
  const viewer = await bench.agent()
  const { id: tokenId, workspaceId, id: agentId } = { ...viewer, id: viewer.id }
  const token = await db.prisma.token.create({ data: { workspaceId, agentId, hash: randomBytes(32) } })
  return { ...viewer, tokenId: token.id || tokenId }
}

let paths = 0
const subscriber = async (answer = proving(), changes: Partial<SubscribeInput> = {}) => {
  const viewer = await agentWithToken()
  const path = `/mcp-${++paths}`
  const secret = newSecret()
  receiver.expect(path, secret)
  receiver.always(path, answer)
  const input: SubscribeInput = {
    agent: { id: viewer.id, workspaceId: viewer.workspaceId },
    type: MESSAGE_RECEIVED,
    channels: [],
    url: receiver.url + path,
    secret,
    after: 0,
    ttlMs: null,
    ...changes,
  }
  const subscribe = (more: Partial<SubscribeInput> = {}) =>
    subscribeWebhook(deps(), viewer, { ...input, ...more })
  const made = await subscribe()
  const told = () => withoutChallenges(receiver.received.filter((got) => got.path === path))
  const row = () => db.prisma.webhook.findFirst({ where: { subscription: made.id } })
  return { viewer, path, secret, input, made, subscribe, told, row }
}

describe('a delivery', () => {
  test('is signed with the secret of the client, under its id, and has the bytes of every webhook', async () => {
    const { viewer, made, told, secret, path } = await subscriber()
    const plain = await bench.webhook(viewer, `${receiver.url}/plain`)
    receiver.expect('/plain', plain.secret)
    bench.worker()
    await bench.raise(viewer.id, 2)
    const [first, second] = await until(() => (told().length === 2 ? told() : null))
    expect(made.id).toMatch(/^sub_[0-9a-f]{32}$/)
    expect(first!.headers['x-mcp-subscription-id']).toBe(made.id)
    expect(first!.headers['webhook-id']).toBe(bodyOf(first!).eventId)
    expect(first!.verified).toMatchObject({
      name: 'message.received',
      cursor: '1',
      data: { agent: { id: viewer.id } },
    })
    expect(second!.verified.cursor).toBe('2')
    const [other] = await receiver.got('/plain', 1)
    expect(first!.body).toBe(other!.body)
    expect(other!.headers['x-mcp-subscription-id']).toBeUndefined()
    expect(secret).not.toBe(plain.secret)
    expect(path).toBeTruthy()
  })

  test('is only for its channels; its lane stands behind what is not for it', async () => {
    const { viewer, told, row } = await subscriber(proving(), { channels: ['sms'] })
    bench.worker()
    await bench.raise(viewer.id, 3)
    await until(async () => (await row())!.position === 3n)
    await bench.raise(viewer.id, 1, { channel: 'sms' })
    await until(() => told().length === 1)
    expect(bodyOf(told()[0]!)).toMatchObject({ cursor: '4', data: { message: { channel: 'sms' } } })
    await bench.raise(viewer.id, 1)
    await until(async () => (await row())!.position === 5n)
    expect(told()).toHaveLength(1)
  })

  test.each([
    [410, 'skips it, and removes nothing'],
    [413, 'skips it'],
  ])('answered with %i: %s, and goes on with the next', async (status) => {
    const { viewer, told, row } = await subscriber(
      proving((got) => (bodyOf(got).cursor === '1' ? status : 204)),
    )
    bench.worker()
    await bench.raise(viewer.id, 2)
    await until(() => told().length === 2)
    expect(told().map((got) => bodyOf(got).cursor)).toEqual(['1', '2'])
    await until(async () => (await row())!.position === 2n)
    expect(
      (await db.prisma.job.findMany({ where: { agentId: viewer.id }, orderBy: { seq: 'asc' } })).map(
        ({ state }) => state,
      ),
    ).toEqual(['skipped', 'delivered'])
  })

  test('that fails is tried five times within a quarter of an hour, in order; then the next has its turn, and nobody gets a mail', async () => {
    const { viewer, told, row } = await subscriber(proving((got) => (bodyOf(got).cursor === '1' ? 500 : 204)))
    bench.worker()
    await bench.raise(viewer.id, 2)
    const waits = [10_000, MINUTE, 4 * MINUTE, 9 * MINUTE]
    for (const [tried, wait] of waits.entries()) {
      await until(() => told().length === tried + 1)
      await until(async () => (await row())!.attempts === tried + 1)
      bench.clock.advance(wait)
    }
    const all = await until(() => (told().length === 6 ? told() : null))
    expect(all.map((got) => bodyOf(got).cursor)).toEqual(['1', '1', '1', '1', '1', '2'])
    expect(new Set(all.slice(0, 5).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThan(15 * MINUTE)
    await until(async () => (await row())!.position === 2n)
    expect((await row())!.givenUpAt).toBeNull()
  })

  test('after a stretch of the log that is no longer kept comes behind a gap that says so', async () => {
    const { viewer, told, made } = await subscriber()
    await bench.store(viewer.id, 5)
    await db.pool.query('delete from event where agent_id = $1 and id <= 3', [viewer.id])
    await db.pool.query('update event_log set horizon = 3 where agent_id = $1', [viewer.id])
    bench.worker()
    bench.tell(viewer.id, null)
    const all = await until(() => (told().length === 3 ? told() : null))
    expect(all[0]!.verified).toEqual({ type: 'gap', cursor: '3' })
    expect(all[0]!.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^msg_gap_/),
      'x-mcp-subscription-id': made.id,
    })
    expect(all.slice(1).map((got) => bodyOf(got).cursor)).toEqual(['4', '5'])
  })
})

describe('its time', () => {
  test.each([
    [null, 24 * HOUR],
    [48 * HOUR, 24 * HOUR],
    [HOUR, HOUR],
    [1, 5 * MINUTE],
  ])('asked for %s, granted %i ms', async (ttlMs, granted) => {
    const { made } = await subscriber(proving(), { ttlMs })
    expect(made.expiresAt.getTime() - bench.clock.now().getTime()).toBe(granted)
  })

  test('is over when it is not renewed: nothing more is posted, and the row goes without a word', async () => {
    const { viewer, told, row } = await subscriber(proving(), { ttlMs: HOUR })
    bench.worker()
    await bench.raise(viewer.id, 1)
    await until(() => told().length === 1)
    bench.clock.advance(HOUR)
    await bench.webhook(viewer, `${receiver.url}/after`)
    await bench.raise(viewer.id, 1)
    await receiver.got('/after', 1)
    expect(told()).toHaveLength(1)
    // In the database's own time, by which the trigger goes.
    await db.pool.query(
      "update webhook set expires_at = now() - interval '1 s' where subscription is not null and agent_id = $1",
      [viewer.id],
    )
    expect(await pruneSubscriptions(db, bench.clock.now())).toBeGreaterThan(0)
    expect(await row()).toBeNull()
    expect(await db.prisma.webhookFarewell.count({ where: { url: receiver.url } })).toBe(0)
  })

  test('begins anew when it is renewed: the same id, where it stands, with both secrets, and at once', async () => {
    const { viewer, subscribe, told, made, row, path } = await subscriber(proving(() => (broken ? 500 : 204)))
    let broken = true
    bench.worker()
    await bench.raise(viewer.id, 1)
    await until(async () => (await row())!.attempts === 1)
    bench.clock.advance(1_000)
    broken = false
    const next = newSecret()
    const renewed = await subscribe({ secret: next, after: 99 })
    expect(renewed).toEqual({
      id: made.id,
      expiresAt: new Date(bench.clock.now().getTime() + 24 * HOUR),
      position: 0,
      status: { active: false, lastDeliveryAt: null, lastError: 'http_5xx', failedSince: expect.any(Date) },
    })
    const [, second] = await until(() => (told().length === 2 ? told() : null))
    expect(second!.headers['webhook-signature']!.split(' ')).toHaveLength(2)
    expect(second!.verified).not.toBeNull()
    receiver.expect(path, next)
    await bench.raise(viewer.id, 1)
    const [, , third] = await until(() => (told().length === 3 ? told() : null))
    expect(third!.verified).not.toBeNull()
  })

  test('that has run out begins again behind the cursor of the client', async () => {
    const { viewer, subscribe, told, made } = await subscriber(proving(), { ttlMs: HOUR })
    await bench.store(viewer.id, 4)
    bench.clock.advance(2 * HOUR)
    bench.worker()
    const again = await subscribe({ after: 2 })
    expect(again).toMatchObject({ id: made.id, position: 2 })
    await until(() => told().length === 2)
    expect(told().map((got) => bodyOf(got).cursor)).toEqual(['3', '4'])
  })

  test('is no longer than that of its token', async () => {
    const viewer = { ...(await agentWithToken()), expiresAt: new Date(bench.clock.now().getTime() + HOUR) }
    receiver.always('/short', proving())
    const input = {
      agent: { id: viewer.id, workspaceId: viewer.workspaceId },
      type: MESSAGE_RECEIVED,
      channels: [],
      after: 0,
      ttlMs: null,
    } as const
    const made = await subscribeWebhook(deps(), viewer, {
      ...input,
      channels: [],
      url: `${receiver.url}/short`,
      secret: newSecret(),
    })
    expect(made.expiresAt).toEqual(viewer.expiresAt)
  })
})

describe('the challenge', () => {
  test('comes before the first event, signed, once a day for each receiver', async () => {
    const { viewer, subscribe, input, path, made } = await subscriber()
    const challenges = () =>
      receiver.received.filter((got) => got.path === path && bodyOf(got).type === 'verification')
    const [first] = challenges()
    expect(first!.verified).toEqual({ type: 'verification', challenge: expect.any(String) })
    expect(first!.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^msg_verification_/),
      'x-mcp-subscription-id': made.id,
    })
    await subscribe()
    await subscribeWebhook(deps(), viewer, { ...input, channels: ['email'] })
    expect(challenges()).toHaveLength(1)
    bench.clock.advance(25 * HOUR)
    await subscribe()
    expect(challenges()).toHaveLength(2)
  })

  test.each<[string, Parameters<typeof subscriber>[0], string]>([
    ['another challenge', (res) => void res.writeHead(200).end('{"challenge":"x"}'), 'challenge_failed'],
    [
      'one of the same length',
      (res) => void res.writeHead(200).end(`{"challenge":"${'x'.repeat(43)}"}`),
      'challenge_failed',
    ],
    ['no JSON', (res) => void res.writeHead(200).end('ok'), 'challenge_failed'],
    ['a number', (res) => void res.writeHead(200).end('{"challenge":1}'), 'challenge_failed'],
    ['404', (res) => void res.writeHead(404).end(), 'http_4xx'],
    ['500', (res) => void res.writeHead(500).end(), 'http_5xx'],
    ['a redirect', (res) => void res.writeHead(302, { Location: 'http://127.0.0.1/' }).end(), 'http_4xx'],
    ['a broken connection', (res) => void res.destroy(), 'connection_refused'],
  ])('answered with %s: nothing is subscribed, and the reason is told', async (_name, answer, reason) => {
    const failure = await subscriber(answer).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CallbackError)
    expect(failure).toMatchObject({ reason })
    expect(await db.prisma.webhook.count({ where: { url: `${receiver.url}/mcp-${paths}` } })).toBe(0)
  })
})

describe('what may be subscribed', () => {
  test.each([
    'whsec_',
    'whsec_short',
    `whsec_${randomBytes(23).toString('base64')}`,
    `whsec_${randomBytes(65).toString('base64')}`,
    `whsec_${randomBytes(32).toString('base64url')}-_`,
    randomBytes(32).toString('base64'),
  ])('the secret %s is none', async (secret) => {
    const { subscribe } = await subscriber()
    await expect(subscribe({ secret })).rejects.toMatchObject({
      code: 'invalid_input',
      field: 'delivery.secret',
    })
  })

  test.each([
    'http://example.com/x',
    'https://10.0.0.1/x',
    'https://169.254.169.254/latest',
    'https://user:pw@example.com/',
    'ftp://example.com',
    'x',
  ])('the URL %s is refused, as for webhooks', async (url) => {
    const { subscribe } = await subscriber()
    await expect(subscribe({ url })).rejects.toMatchObject({ code: 'invalid_input', field: 'url' })
  })

  test('a hundred for each principal', async () => {
    const { viewer, subscribe, input } = await subscriber()
    const { workspaceId } = viewer
    const secret = new Uint8Array(16)
    await db.prisma.webhook.createMany({
      data: Array.from({ length: MAX_SUBSCRIPTIONS - 1 }, () => ({
        id: randomUUID(),
        workspaceId,
        agentId: viewer.id,
        url: `${receiver.url}/${randomUUID()}`,
        secret,
        position: 0n,
        kind: 'mcp' as const,
        subscription: `sub_${randomUUID()}`,
        principalId: viewer.id,
        tokenId: viewer.tokenId,
        expiresAt: new Date(bench.clock.now().getTime() + HOUR),
      })),
    })
    await subscribe()
    await expect(subscribeWebhook(deps(), viewer, { ...input, channels: ['email'] })).rejects.toBeInstanceOf(
      TooManySubscriptions,
    )
    // What has run out counts no more.
    bench.clock.advance(2 * HOUR)
    await subscribeWebhook(deps(), viewer, { ...input, channels: ['email'] })
  })

  test('the same asked at once twice is one; other arguments, another', async () => {
    const { subscribe, made, viewer, input } = await subscriber()
    const [a, b] = await Promise.all([subscribe(), subscribe()])
    expect([a.id, b.id]).toEqual([made.id, made.id])
    const other = await subscribeWebhook(deps(), viewer, { ...input, channels: ['email'] })
    expect(other.id).not.toBe(made.id)
    expect(await db.prisma.webhook.count({ where: { agentId: viewer.id } })).toBe(2)
  })

  test('it is no webhook of the agent that anybody manages, and takes no place from those', async () => {
    const { viewer, row, input } = await subscriber()
    await expect(removeWebhook(bench.operations, viewer, viewer.id, (await row())!.id)).rejects.toMatchObject(
      { code: 'not_found' },
    )
    const plain = await bench.webhook(viewer, input.url)
    expect(plain).toMatchObject({ created: true, webhook: { url: input.url } })
    expect(await bench.webhook(viewer, input.url)).toMatchObject({ created: false, secret: plain.secret })
  })

  test('the secrets of clients are sealed in the database', async () => {
    const { secret, row } = await subscriber()
    expect(Buffer.from((await row())!.secret).includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false)
    expect(Buffer.from((await row())!.secret).toString()).not.toContain(secret)
  })
})

describe('its end', () => {
  const farewells = () => {
    const { keyring, clock, operations } = bench
    const dialler = new Dialler({ allow: operations.allow, lookup: operations.lookup })
    const routine = createTerminationNotices({
      ...db,
      keyring,
      clock: { ...clock, sleep: systemClock.sleep },
      log: silentLogger,
      dialler,
    })
    routine.start()
    return routine
  }

  test('unsubscribing ends it without a word, for whatever is on its way; twice is once', async () => {
    const { viewer, input, row, told } = await subscriber()
    const routine = farewells()
    bench.worker()
    await unsubscribeWebhook(bench.operations, viewer, input)
    await unsubscribeWebhook(bench.operations, viewer, input)
    expect(await row()).toBeNull()
    expect(await db.prisma.job.count({ where: { agentId: viewer.id } })).toBe(0)
    const other = await subscriber()
    await bench.raise(viewer.id, 1)
    await bench.raise(other.viewer.id, 1)
    await until(() => other.told().length === 1)
    expect(told()).toEqual([])
    await routine.stop()
  })

  const endings = () => ({
    ...bench.operations,
    log: silentLogger,
    channels: {},
    forgetMember: async () => undefined,
    endSubscriptions,
    removeAtOnce: async () => undefined,
  })
  const revoke = (viewer: Viewer) => revokeToken(endings(), viewer, { agentId: viewer.id }, viewer.tokenId)
  const colleague = async ({ workspaceId }: Viewer, role: 'owner' | 'member') => {
    const email = `${randomUUID()}@example.com`
    const member = await db.prisma.member.create({ data: { workspaceId, email, role } })
    const token = await db.prisma.token.create({
      data: { workspaceId, memberId: member.id, hash: randomBytes(32) },
    })
    return {
      ...member,
      kind: 'member' as const,
      tokenId: token.id,
      expiresAt: null,
      scopes: null,
      session: null,
    }
  }

  test.each<[string, (viewer: Viewer) => Promise<unknown>]>([
    ['a revoked token', revoke],
    ['a deleted agent', (viewer) => deleteAgent(endings(), viewer, viewer.id)],
  ])('with %s: one last word, signed, and nothing after it', async (_what, end) => {
    const { viewer, row, told, made } = await subscriber()
    await bench.raise(viewer.id, 1)
    const routine = farewells()
    await end(viewer)
    expect(await db.prisma.job.count({ where: { agentId: viewer.id } })).toBe(0)
    const [last] = await until(() => (told().length > 0 ? told() : null))
    expect(await row()).toBeNull()
    expect(last!.verified).toEqual({
      type: 'terminated',
      error: { code: -32012, message: expect.any(String) },
    })
    expect(last!.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^msg_terminated_/),
      'x-mcp-subscription-id': made.id,
    })
    await until(
      async () => (await db.prisma.webhookFarewell.count({ where: { subscription: made.id } })) === 0,
    )
    expect(told()).toHaveLength(1)
    await routine.stop()
  })

  test('with a removed member, whose tokens go too', async () => {
    const { viewer, input, told } = await subscriber()
    const [owner, member] = [await colleague(viewer, 'owner'), await colleague(viewer, 'member')]
    const made = await subscribeWebhook(deps(), member, input)
    const routine = farewells()
    await removeMember(endings(), owner, member.id)
    const [last] = await until(() => (told().length > 0 ? told() : null))
    expect(last!.headers['x-mcp-subscription-id']).toBe(made.id)
    expect(bodyOf(last!)).toMatchObject({ type: 'terminated' })
    expect(await db.prisma.webhook.count({ where: { agentId: viewer.id } })).toBe(1)
    await routine.stop()
  })

  test.each<[string, (viewer: Viewer) => Promise<unknown>]>([
    ['a revoked token', revoke],
    ['a deleted agent', (viewer) => deleteAgent(endings(), viewer, viewer.id)],
  ])('one whose time is over ends without a word with %s', async (_what, end) => {
    const { viewer, row, made } = await subscriber()
    await db.pool.query("update webhook set expires_at = now() - interval '1 s' where agent_id = $1", [
      viewer.id,
    ])
    await end(viewer)
    expect(await row()).toBeNull()
    expect(await db.prisma.webhookFarewell.count({ where: { subscription: made.id } })).toBe(0)
  })

  test('one that is being made while its token is revoked is made and ended, or not made', async () => {
    const { viewer, input } = await subscriber()
    for (let round = 0; round < 10; round++) {
      const token = await db.prisma.token.create({
        data: { workspaceId: viewer.workspaceId, agentId: viewer.id, hash: randomBytes(32) },
      })
      const url = `${receiver.url}/round-${round}`
      receiver.always(`/round-${round}`, proving())
      const one = { ...viewer, tokenId: token.id }
      const [made] = await Promise.allSettled([subscribeWebhook(deps(), one, { ...input, url }), revoke(one)])
      expect(await db.prisma.webhook.count({ where: { url } })).toBe(0)
      const isMade = made.status === 'fulfilled'
      expect(await db.prisma.webhookFarewell.count({ where: { url } })).toBe(isMade ? 1 : 0)
    }
  })

  test('a last word that is not heard is said again, by whoever is there then, five times at most', async () => {
    const { viewer, told, made } = await subscriber(proving(() => 503))
    await revoke(viewer)
    const routine = farewells()
    for (let tried = 1; tried <= 5; tried++) {
      await until(() => told().length === tried)
      await db.pool.query('update webhook_farewell set due_at = now() where subscription = $1', [made.id])
    }
    await until(
      async () => (await db.prisma.webhookFarewell.count({ where: { subscription: made.id } })) === 0,
    )
    expect(new Set(told().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await routine.stop()
  })
})
