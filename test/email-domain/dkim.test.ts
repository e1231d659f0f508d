import { createPublicKey, createSign, createVerify, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { dkimKeys, rotateDkimKey, signingKeys } from '../../src/email-domain/dkim.ts'
import type { DkimDeps, DkimOwner } from '../../src/email-domain/key-pair.ts'
import { createKeyring } from '../../src/workspace/encryption/keyring.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'

const masterKey = randomBytes(32)
const clock = createFakeClock()
const zone: Zone = {}
const resolver = fakeResolver(zone)
const DAY_MS = 24 * 3_600_000
const db = await openTestDatabase()
const deps: DkimDeps = { ...db, clock, keyring: createKeyring(db, masterKey) }
const { workspace: workspaceId } = await createWorkspace(
  { ...db, masterKey },
  { name: 'Acme', ownerEmail: 'o@example.com', plan: 'unlimited' },
)

const publish = ({ record }: Awaited<ReturnType<typeof dkimKeys>>[number]) => {
  zone[record.name] = { TXT: [record.value] }
}
/** The RSA keys among these. */
const rsaOf = (keys: Awaited<ReturnType<typeof dkimKeys>>) =>
  keys.filter(({ algorithm }) => algorithm === 'rsa')
const selectorsOf = async (owner: DkimOwner) =>
  rsaOf(await dkimKeys(deps, owner)).map(({ selector }) => selector)
const signingKey = async (given: Parameters<typeof signingKeys>[0], owner: DkimOwner) => {
  const [key] = await signingKeys(given, owner)
  return key!
}

test.each([
  { whose: 'the service', owner: { domain: 'service.example', workspaceId: null } },
  { whose: 'a workspace', owner: { domain: 'own.example', workspaceId } },
])(
  'the key of $whose is created only once, even for concurrent requests, and its DNS record verifies its signatures',
  async ({ owner }) => {
    const results = await Promise.all(
      Array.from({ length: 6 }, () => dkimKeys({ ...deps, keyring: createKeyring(db, masterKey) }, owner)),
    )
    expect(new Set(results.flat().map(({ selector }) => selector)).size).toBe(2)
    const [key] = results[0]!
    expect(key!.record).toMatchObject({ name: `${key!.selector}._domainkey.${owner.domain}`, type: 'TXT' })
    expect(key!.record.value).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{300,}={0,2}$/)
    const signing = await signingKey({ ...deps, resolver }, owner)
    expect(signing).toMatchObject({ domain: owner.domain, selector: key!.selector })
    const publicKey = createPublicKey({
      key: Buffer.from(key!.publicKey, 'base64'),
      format: 'der',
      type: 'spki',
    })
    const signature = createSign('RSA-SHA256').update('x').sign(signing.privateKey)
    expect(createVerify('RSA-SHA256').update('x').verify(publicKey, signature)).toBe(true)
  },
)

test('a private key is stored only encrypted and can be decrypted only for its owner', async () => {
  const owner = { domain: 'sealed.example', workspaceId }
  const [key] = await dkimKeys(deps, owner)
  const row = await db.prisma.dkimKey.findFirstOrThrow({ where: { selector: key!.selector } })
  expect(Buffer.from(row.privateKey).toString('latin1')).not.toContain('PRIVATE KEY')
  await db.prisma.dkimKey.update({ where: { id: row.id }, data: { domain: 'stolen.example' } })
  await expect(signingKey({ ...deps, resolver }, { ...owner, domain: 'stolen.example' })).rejects.toThrow()
})

test('two workspaces have separate keys for the same domain', async () => {
  const other = await createWorkspace(
    { ...db, masterKey },
    { name: 'Other', ownerEmail: 'p@example.com', plan: 'unlimited' },
  )
  const keys = await Promise.all(
    [workspaceId, other.workspace, null].map((id) =>
      selectorsOf({ domain: 'both.example', workspaceId: id }),
    ),
  )
  expect(new Set(keys.flat()).size).toBe(3)
})

test('a new key signs once DNS publishes it, and the previous key’s record stays required for 7 more days', async () => {
  const owner = { domain: 'rotating.example', workspaceId: null }
  const [first] = await dkimKeys(deps, owner)
  publish(first!)
  clock.advance(1)
  const [second, before] = rsaOf(await rotateDkimKey(deps, owner))
  expect(before!.selector).toBe(first!.selector)
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(first!.selector)
  publish(second!)
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(second!.selector)
  const [now, old] = rsaOf(await dkimKeys(deps, owner))
  expect(now).toMatchObject({ selector: second!.selector, retiredAt: null })
  expect(old).toMatchObject({ selector: first!.selector, retiredAt: clock.now() })
  delete zone[second!.record.name]
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(second!.selector)
  clock.advance(7 * DAY_MS)
  expect(await selectorsOf(owner)).toEqual([second!.selector])
})

test('a DNS record that contains another key does not publish this one', async () => {
  const owner = { domain: 'mistaken.example', workspaceId: null }
  const [first] = await dkimKeys(deps, owner)
  clock.advance(1)
  const [second] = await rotateDkimKey(deps, owner)
  zone[second!.record.name] = { TXT: [first!.record.value] }
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(first!.selector)
})

test('an Ed25519 key signs beside the RSA key only while DNS publishes its record', async () => {
  const owner = { domain: 'second.example', workspaceId }
  const [rsa, ed25519] = await dkimKeys(deps, owner)
  expect(ed25519).toMatchObject({
    algorithm: 'ed25519',
    record: {
      name: `${rsa!.selector}-ed25519._domainkey.second.example`,
      value: expect.stringMatching(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/),
    },
  })
  publish(rsa!)
  const selectors = async () =>
    (await signingKeys({ ...deps, resolver }, owner)).map(({ selector }) => selector)
  expect(await selectors()).toEqual([rsa!.selector])
  publish(ed25519!)
  expect(await selectors()).toEqual([rsa!.selector, ed25519!.selector])
  zone[ed25519!.record.name] = { TXT: ['v=DKIM1; k=ed25519; p='] }
  expect(await selectors()).toEqual([rsa!.selector])
  zone[ed25519!.record.name] = { TXT: [ed25519!.record.value] }
  const [, signing] = await signingKeys({ ...deps, resolver }, owner)
  // The record has the 32 bytes of the key alone (RFC 8463 4.2).
  const publicKey = createPublicKey(signing!.privateKey).export({ format: 'jwk' }).x!
  expect(Buffer.from(publicKey, 'base64url').toString('base64')).toBe(ed25519!.publicKey)
})

test('a key of an earlier version gets its Ed25519 key when it is used, once for concurrent requests', async () => {
  const owner = { domain: 'earlier.example', workspaceId }
  const [before] = await dkimKeys(deps, owner)
  const none = { ed25519PublicKey: null, ed25519PrivateKey: null }
  await db.prisma.dkimKey.updateMany({ where: { domain: owner.domain }, data: none })
  const results = await Promise.all([dkimKeys(deps, owner), signingKeys({ ...deps, resolver }, owner)])
  const after = await dkimKeys(deps, owner)
  expect(results[0]).toEqual(after)
  expect(after.map(({ algorithm }) => algorithm)).toEqual(['rsa', 'ed25519'])
  expect(after[0]!.selector).toBe(before!.selector)
})
