import { createPublicKey, createSign, createVerify, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type DkimDeps,
  type DkimOwner,
  dkimKeys,
  rotateDkimKey,
  signingKey,
} from '../../src/email-domain/dkim.ts'
import { createKeyring } from '../../src/workspace/keyring.ts'
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
const selectorsOf = async (owner: DkimOwner) => (await dkimKeys(deps, owner)).map(({ selector }) => selector)

test.each([
  { whose: 'the service', owner: { domain: 'service.example', workspaceId: null } },
  { whose: 'a workspace', owner: { domain: 'own.example', workspaceId } },
])(
  'the key of $whose is created only once, even for concurrent requests, and its DNS record verifies its signatures',
  async ({ owner }) => {
    const results = await Promise.all(
      Array.from({ length: 6 }, () => dkimKeys({ ...deps, keyring: createKeyring(db, masterKey) }, owner)),
    )
    expect(new Set(results.flat().map(({ selector }) => selector)).size).toBe(1)
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
  const [second, before] = await rotateDkimKey(deps, owner)
  expect(before!.selector).toBe(first!.selector)
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(first!.selector)
  publish(second!)
  expect((await signingKey({ ...deps, resolver }, owner)).selector).toBe(second!.selector)
  const [now, old] = await dkimKeys(deps, owner)
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
