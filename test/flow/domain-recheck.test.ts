import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { leaveDomain } from '../../src/agent/address/leave-domain.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Domain } from '../../src/db/generated/prisma/client.ts'
import { outsideTransactionOf } from '../../src/db/transaction.ts'
import { addDomain, recordsOf } from '../../src/email-domain/domain.ts'
import { type RecheckDeps, recheckDomains } from '../../src/email-domain/recheck.ts'
import { verifyDomain } from '../../src/email-domain/verify.ts'
import { createKeyring } from '../../src/workspace/encryption/keyring.ts'
import { type ExternalCallDeps, ExternalCalls } from '../../src/workspace/limit/external-calls.ts'
import { FailedTokens } from '../../src/workspace/token/failed-tokens.ts'
import { authenticate, KnownViewers, type Viewer } from '../../src/workspace/token/viewer.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { type ListedDomain, ownDomain, publish, withdraw } from '../support/own-domain.ts'
import { startRelay } from '../support/relay.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Periodic checks of domains, without requests. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const PLACE = { mailDomain: 'agents.localhost', mailHost: 'agents.localhost' }

const zone: Zone = {}
/** Names for which the name servers fail, with the c-ares error code. */
const failing = new Map<string, string>()
/** Number of MX lookups of each name. */
const lookups = new Map<string, number>()
const mails: { to: string; subject: string; text: string }[] = []
const clock = createFakeClock()

let deps: RecheckDeps & ExternalCallDeps
let masterKey: Uint8Array
beforeAll(async () => {
  const db = await openTestDatabase(10)
  masterKey = randomBytes(32)
  const resolver = fakeResolver(zone)
  deps = {
    ...db,
    outsideTransaction: outsideTransactionOf(db),
    externalCalls: new ExternalCalls(),
    ...PLACE,
    clock,
    keyring: createKeyring(db, masterKey),
    log: silentLogger,
    leaveDomain: (tx, domainId) => leaveDomain(tx, domainId, PLACE.mailDomain),
    mailer: { send: (letter) => void mails.push(letter) },
    freshResolver: async (name, type) => {
      if (type === 'MX') lookups.set(name, (lookups.get(name) ?? 0) + 1)
      if (failing.has(name)) throw Object.assign(new Error('x'), { code: failing.get(name) })
      return resolver(name, type)
    },
  }
  await db.pool.query("insert into plan (key) values ('unlimited') on conflict do nothing")
})
beforeEach(async () => {
  await deps.prisma.workspace.deleteMany()
  lookups.clear()
  failing.clear()
  mails.length = 0
})

const newOwner = async (ownerEmail: string): Promise<Viewer> => {
  const { token } = await createWorkspace(
    { ...deps, masterKey },
    { name: 'Acme', ownerEmail, plan: 'unlimited' },
  )
  return authenticate(
    { ...deps, knownViewers: new KnownViewers(), failedTokens: new FailedTokens(deps.clock) },
    token,
    '',
  )
}

const listed = async (domain: Domain): Promise<ListedDomain> => ({
  ...domain,
  checkedAt: null,
  records: await recordsOf(deps, domain),
})

const newDomain = async (owner: Viewer, name: string, purposes?: string[]): Promise<ListedDomain> => {
  const { domain } = await addDomain(deps, owner, { name })
  const made = await listed(domain)
  publish(zone, made, purposes)
  return made
}

const verified = async (owner: Viewer, name: string): Promise<ListedDomain> => {
  const domain = await newDomain(owner, name)
  expect((await verifyDomain(deps, owner, domain.id)).state).toBe('verified')
  return domain
}

const stateOf = async ({ id }: ListedDomain) =>
  (await deps.prisma.domain.findUniqueOrThrow({ where: { id } })).state
/** Advances the clock and lets a worker check what is due. Returns the number of domains it checked. */
const after = (ms: number): Promise<number> => {
  clock.advance(ms)
  return recheckDomains(deps, new AbortController().signal)
}

test('a domain is checked again a day after its last check, and not earlier', async () => {
  const domain = await verified(await newOwner('a@example.com'), 'a.example')
  expect(await after(DAY - 1)).toBe(0)
  expect(await after(1)).toBe(1)
  expect(await stateOf(domain)).toBe('verified')
  expect(await after(DAY - 1)).toBe(0)
})

test('missing records break a domain at the second check, an hour after the first, and each owner gets one mail', async () => {
  const owner = await newOwner('b@example.com')
  await deps.prisma.member.create({
    data: { workspaceId: owner.workspaceId, email: 'b2@example.com', role: 'owner' },
  })
  await deps.prisma.member.create({
    data: { workspaceId: owner.workspaceId, email: 'b3@example.com', role: 'member' },
  })
  const domain = await verified(owner, 'b.example')
  withdraw(zone, domain, 'mx')
  expect(await after(DAY)).toBe(1)
  expect(await stateOf(domain)).toBe('verified')
  expect(await after(HOUR - 1)).toBe(0)
  expect(await after(1)).toBe(1)
  expect(await stateOf(domain)).toBe('broken')
  expect(mails.map(({ to }) => to).sort()).toEqual(['b2@example.com', 'b@example.com'])
  expect(mails[0]!.text).toContain('- mx (b.example): There is no such record')
  expect(await after(DAY)).toBe(1)
  expect(mails).toHaveLength(2)
  publish(zone, domain, ['mx'])
  expect(await after(DAY)).toBe(1)
  expect(await stateOf(domain)).toBe('verified')
})

test('a single failed check never breaks a domain, however often it happens', async () => {
  const domain = await verified(await newOwner('c@example.com'), 'c.example')
  for (let day = 0; day < 3; day++) {
    withdraw(zone, domain, 'mx')
    expect(await after(DAY)).toBe(1)
    publish(zone, domain, ['mx'])
    expect(await after(HOUR)).toBe(1)
  }
  expect(await stateOf(domain)).toBe('verified')
})

test.each(['ETIMEOUT', 'ESERVFAIL', 'EREFUSED'])(
  'name servers that fail for days (%s) do not break a domain, which is checked every hour',
  async (code) => {
    const name = `d-${code.toLowerCase()}.example`
    const domain = await verified(await newOwner('d@example.com'), name)
    failing.set(name, code)
    expect(await after(DAY)).toBe(1)
    for (let hour = 0; hour < 50; hour++) expect(await after(HOUR)).toBe(1)
    expect(await stateOf(domain)).toBe('verified')
    expect(mails).toEqual([])
  },
)

test('an inconclusive check between two failures does not reset their count', async () => {
  const domain = await verified(await newOwner('e@example.com'), 'e.example')
  withdraw(zone, domain, 'dkim')
  await after(DAY)
  failing.set('e.example', 'ETIMEOUT')
  publish(zone, domain, ['dkim'])
  await after(HOUR)
  failing.clear()
  withdraw(zone, domain, 'dkim')
  await after(HOUR)
  expect(await stateOf(domain)).toBe('broken')
})

test('a pending domain is verified without a request, and one that was never verified does not break', async () => {
  const owner = await newOwner('f@example.com')
  const domain = await newDomain(owner, 'f.example', ['mx'])
  for (let day = 0; day < 3; day++) expect(await after(DAY)).toBe(1)
  expect(await stateOf(domain)).toBe('pending')
  publish(zone, domain, ['ownership', 'dkim'])
  await after(DAY)
  expect(await stateOf(domain)).toBe('verified')
  expect(mails).toEqual([])
})

test('a workspace that loses a domain to another one is notified, and the other one has the domain', async () => {
  const domain = await verified(await newOwner('old@example.com'), 'g.example')
  const rival = await newOwner('new@example.com')
  const theirs = await newDomain(rival, 'g.example', ['ownership', 'dkim'])
  expect((await verifyDomain(deps, rival, theirs.id)).state).toBe('pending')
  zone['_agent-messaging.g.example']!.TXT!.shift()
  await after(DAY)
  expect([await stateOf(domain), await stateOf(theirs)]).toEqual(['broken', 'verified'])
  expect(
    mails
      .filter(({ subject }) => subject === 'g.example belongs to another workspace now')
      .map(({ to }) => to),
  ).toEqual(['old@example.com'])
})

test('three workers check 50 domains once each, and the domains of a killed worker are checked later', async () => {
  const owner = await newOwner('h@example.com')
  const { workspaceId } = owner
  const names = Array.from({ length: 50 }, (_, n) => `h${n}.example`)
  const at = clock.now()
  const added = names.map((name) => ({
    workspaceId,
    name,
    ownershipToken: name,
    createdAt: at,
    recheckAt: at,
  }))
  await deps.prisma.domain.createMany({ data: added })
  // Not added with `addDomain`, which would take time to create real keys.
  const key = { workspaceId, selector: 's', publicKey: 'KEY', privateKey: new Uint8Array() }
  await deps.prisma.dkimKey.createMany({ data: names.map((domain) => ({ ...key, domain })) })
  clock.advance(DAY)
  const { signal } = new AbortController()
  const checked = await Promise.all([1, 2, 3].map(() => recheckDomains(deps, signal)))
  expect(checked.reduce((sum, one) => sum + one)).toBe(50)
  expect([...lookups.values()]).toEqual(Array.from({ length: 50 }, () => 1))
  // Claimed, and never finished.
  await deps.prisma.domain.updateMany({ data: { recheckAt: new Date(clock.now().getTime() + 5 * MINUTE) } })
  expect(await after(5 * MINUTE - 1)).toBe(0)
  expect(await after(1)).toBe(50)
})

test('a domain that is deleted during its check does not block the others', async () => {
  const owner = await newOwner('i@example.com')
  const domain = await newDomain(owner, 'i.example')
  const other = await newDomain(owner, 'j.example')
  const vanishing = { ...deps, freshResolver: deps.freshResolver }
  vanishing.freshResolver = async (name, type) => {
    if (name === 'i.example' && type === 'MX') await deps.prisma.domain.delete({ where: { id: domain.id } })
    return deps.freshResolver(name, type)
  }
  clock.advance(DAY)
  expect(await recheckDomains(vanishing, new AbortController().signal)).toBe(2)
  expect(await stateOf(other)).toBe('verified')
})

test('a worker that stops starts no further check', async () => {
  const owner = await newOwner('k@example.com')
  await newDomain(owner, 'k.example')
  clock.advance(DAY)
  expect(await recheckDomains(deps, AbortSignal.abort())).toBe(0)
})

describe('periodic checks in a running service', () => {
  test('run by themselves, and the owner gets a mail about a broken domain', async () => {
    const relay = await startRelay()
    afterAll(() => relay.stop())
    const service = await startService({
      environment: { SMTP_RELAY_URL: relay.url },
      world: { clock, resolver: fakeResolver(zone) },
    })
    const owner = await service.workspace()
    const domain = await ownDomain(owner, zone, 'running.example')
    expect(domain.state).toBe('verified')
    withdraw(zone, domain, 'mx')
    clock.advance(DAY)
    await until(() => {
      clock.advance(10 * MINUTE)
      return relay.mails.length > 0
    })
    expect(relay.mails).toMatchObject([
      { to: [owner.email], mail: { subject: 'running.example: its DNS records are not correct' } },
    ])
    expect((await owner.api('GET', `/domains/${domain.id}`)).body.state).toBe('broken')
  })
})
