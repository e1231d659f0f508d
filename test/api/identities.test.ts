import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { createMemberToken } from '../../src/workspace/workspace.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestLog } from '../support/log.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'

const MINE = '+15551234567'
const OURS = '+15005550101'
const ME = '/members/me/identities'

const log = createTestLog()
let clock: FakeClock
let twilio: TwilioStandIn
let service: TestService
let owner: Tenant
beforeAll(async () => {
  twilio = await openTwilio()
  clock = createFakeClock()
  service = await startService({ environment: twilio.environment, world: { clock }, log })
  owner = await service.workspace()
  await giveNumber(service, twilio, await createTestAgent(service, owner), OURS)
})

const claim = (value = MINE, { api }: Pick<Tenant, 'api'> = owner) => {
  clock.advance(60_000)
  return api('POST', ME, { channel: 'sms', value })
}
const verify = (code: string, { api }: Pick<Tenant, 'api'> = owner) =>
  api('POST', `${ME}/verify`, { channel: 'sms', code })
const codeSent = () => twilio.sent.at(-1)!.body.slice(0, 6)
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

test('texts from a verified phone number count as the member’s until the number is removed', async () => {
  const claimed = await claim(' +1 555 123 4567 ')
  expect({ status: claimed.status, body: claimed.body }).toEqual({
    status: 201,
    body: { channel: 'sms', value: MINE, expiresAt: new Date(clock.now().getTime() + 600_000).toISOString() },
  })
  expect(twilio.sent.at(-1)).toMatchObject({
    from: OURS,
    to: MINE,
    body: expect.stringMatching(/^\d{6} is your code/),
  })
  expect((await owner.api('GET', ME)).body).toEqual([])
  expect((await verify(codeSent())).body).toEqual({
    channel: 'sms',
    value: MINE,
    verifiedAt: clock.now().toISOString(),
  })
  expect((await owner.api('GET', ME)).body).toMatchObject([{ channel: 'sms', value: MINE }])
  await twilio.text(MINE, OURS, 'it is me')
  const { agentId } = await service.db.prisma.message.findFirstOrThrow({ where: { text: 'it is me' } })
  const [message] = (await owner.api('GET', `/agents/${agentId}/messages`)).body.items
  expect(message).toMatchObject({ status: 'received', admission: 'team' })
  expect((await owner.api('DELETE', `${ME}/sms/${encodeURIComponent(MINE)}`)).status).toBe(204)
  expectFailure(await owner.api('DELETE', `${ME}/sms/${encodeURIComponent(MINE)}`), 'not_found')
  await twilio.text(MINE, OURS, 'and now?')
  expect((await owner.api('GET', `/agents/${agentId}/messages?limit=1`)).body.items).toMatchObject([
    { refusal: 'outsider' },
  ])
})

test('a code is valid once, for 10 minutes and 5 attempts, and only if it is the latest', async () => {
  expectFailure(await verify('123456'), 'invalid_input', /code: is wrong/)
  await claim()
  const first = codeSent()
  await claim()
  if (codeSent() !== first) expectFailure(await verify(first), 'invalid_input', /code: is wrong/)
  expect((await verify(codeSent())).status).toBe(200)
  expectFailure(await verify(codeSent()), 'invalid_input')
  await claim()
  const guesses = await Promise.all(Array.from({ length: 8 }, () => verify(wrong(codeSent()))))
  for (const guess of guesses) expectFailure(guess, 'invalid_input', /code: is wrong/)
  expectFailure(await verify(codeSent()), 'invalid_input')
  await claim()
  clock.advance(600_000)
  expectFailure(await verify(codeSent()), 'invalid_input')
})

const keyed = () => ({ 'Idempotency-Key': randomUUID() })

describe('attempts at a code are counted even when the request fails', () => {
  const graphql = (query: string, headers = {}) => owner.api('POST', '/graphql', { query }, headers)
  // Starts a new day, so that the daily limit of codes does not affect the other tests.
  afterAll(() => clock.advance(24 * 3_600_000))
  const mutation = (code: string) =>
    `verifyIdentity(input: { channel: sms, code: "${code}" }) { identity { value } }`

  test('100 concurrent wrong guesses, each with its own Idempotency-Key, use up the 5 attempts', async () => {
    await claim()
    const code = codeSent()
    const guesses = await Promise.all(
      Array.from({ length: 100 }, () =>
        owner.api('POST', `${ME}/verify`, { channel: 'sms', code: wrong(code) }, keyed()),
      ),
    )
    for (const guess of guesses) expectFailure(guess, 'invalid_input', /code: is wrong/)
    const where = { memberId_channel: { memberId: owner.member, channel: 'sms' as const } }
    expect(await service.db.prisma.identityClaim.findUnique({ where })).toMatchObject({ tries: 5 })
    expectFailure(await verify(code), 'invalid_input', /code: is wrong/)
  })

  test.each([
    [
      'sent one after another with an Idempotency-Key each',
      (guess: string) => Array.from({ length: 6 }, () => [`mutation { ${mutation(guess)} }`, keyed()]),
    ],
    [
      'sent in one request',
      (guess: string) => [
        [`mutation { ${Array.from({ length: 6 }, (_, n) => `a${n}: ${mutation(guess)}`)} }`, {}],
      ],
    ],
  ])('wrong guesses over GraphQL, %s, use up the attempts', async (_, requestsOf) => {
    await claim()
    const code = codeSent()
    for (const [query, headers] of requestsOf(wrong(code))) {
      const { body } = await graphql(query as string, headers as Record<string, string>)
      expect(body.errors[0]).toMatchObject({ extensions: { code: 'invalid_input' } })
    }
    expectFailure(await verify(code), 'invalid_input', /code: is wrong/)
    await claim()
    const { body } = await graphql(`mutation { ${mutation(codeSent())} }`, keyed())
    expect(body).toEqual({ data: { verifyIdentity: { identity: { value: MINE } } } })
  })

  test('a requested code counts toward the daily limit even when it could not be sent', async () => {
    const tenant = await service.workspace()
    const ask = () => {
      clock.advance(60_000)
      return tenant.api('POST', ME, { channel: 'sms', value: MINE }, keyed())
    }
    // The workspace has no number to send a code from.
    for (let n = 0; n < 10; n++) expectFailure(await ask(), 'conflict')
    expectFailure(await ask(), 'rate_limited', /10 codes a day/)
  })
})

test('concurrent verifications succeed once per code, and only one member ends up with the number', async () => {
  await claim()
  const answers = await Promise.all(Array.from({ length: 5 }, () => verify(codeSent())))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
  const { id: member } = await service.db.prisma.member.create({
    data: { workspaceId: owner.id, email: 'both@example.com' },
  })
  const { token } = await createMemberToken({ ...service.db, clock: systemClock }, 'both@example.com')
  const other = { api: apiOf(service.http, token) }
  const codes = []
  for (const who of [owner, other]) {
    expect((await claim(MINE, who)).status).toBe(201)
    codes.push(codeSent())
  }
  const both = await Promise.all([verify(codes[0]!), verify(codes[1]!, other)])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  const where = { value: MINE, memberId: { in: [owner.member, member] } }
  expect(await service.db.prisma.memberIdentity.count({ where })).toBe(1)
})

test('verifying a number takes it from other members of the workspace, but not of other workspaces', async () => {
  const prisma = service.db.prisma
  const member = await prisma.member.create({ data: { workspaceId: owner.id, email: 'bo@example.com' } })
  const other = await service.workspace()
  const rows = [member.id, other.member].map((memberId) => ({
    memberId,
    channel: 'sms' as const,
    value: MINE,
  }))
  await prisma.memberIdentity.createMany({ data: rows })
  await claim()
  await verify(codeSent())
  const holders = await prisma.memberIdentity.findMany({ where: { value: MINE } })
  expect(holders.map(({ memberId }) => memberId).sort()).toEqual([owner.member, other.member].sort())
})

test.each(['12345', '1234567', '12345x', '', '１２３４５６'])('%j is refused as a code', async (code) => {
  expectFailure(await verify(code), 'invalid_input', /code: must be 6 digits/)
})

test('a member can request at most 2 codes a minute and 10 a day', async () => {
  const tenant = await service.workspace()
  await giveNumber(service, twilio, await createTestAgent(service, tenant, 'Rates'), '+15005550102')
  await claim(MINE, tenant)
  const now = () => tenant.api('POST', ME, { channel: 'sms', value: MINE })
  expect((await now()).status).toBe(201)
  expectFailure(await now(), 'rate_limited', /Wait a minute/)
  for (let n = 2; n < 10; n++) expect((await claim(MINE, tenant)).status).toBe(201)
  expectFailure(await claim(MINE, tenant), 'rate_limited', /10 codes a day/)
})

test('requesting a code fails with the reason when it cannot be sent', async () => {
  expectFailure(
    await claim(MINE, await service.workspace()),
    'conflict',
    /no phone number to send the code from/,
  )
  await twilio.text('+15556660000', OURS, 'STOP')
  expectFailure(await claim('+15556660000'), 'conflict', /has opted out/)
  expectFailure(await claim('hello'), 'invalid_input', /^value: .*must be a phone number/)
  const refusal = { status: 400, body: '{"code":21211,"message":"The \'To\' number is not valid"}' }
  for (const [answer, code, says] of [
    [refusal, 'conflict', /could not be sent: The 'To' number is not valid/],
    [{ status: 500, body: '' }, 'unavailable', /try again later/],
  ] as const) {
    twilio.insteads.push({ pattern: /Messages\.json/, answer })
    clock.advance(24 * 3_600_000)
    expectFailure(await claim(), code, says)
    twilio.insteads.length = 0
  }
})

test('agents cannot use identities, and codes are neither logged nor stored in plain text', async () => {
  const { api } = await createTestAgent(service, owner, 'Other')
  expectFailure(await api('GET', ME), 'forbidden')
  expectFailure(await apiOf(service.http, null)('GET', ME), 'unauthorized')
  await claim()
  const { code } = await service.db.prisma.identityClaim.findFirstOrThrow({
    where: { memberId: owner.member },
  })
  expect(Buffer.from(code).includes(codeSent())).toBe(false)
  expect(log.text()).not.toContain(codeSent())
})
