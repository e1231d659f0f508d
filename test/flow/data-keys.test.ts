import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { SEALED_COLUMNS } from '../../src/boot/sealed-columns.ts'
import { finishDataKeys, replaceDataKey } from '../../src/workspace/encryption/data-keys.ts'
import { createKeyring, rewrapDataKeys, UnreadableError } from '../../src/workspace/encryption/keyring.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { createTestLog } from '../support/log.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'

/**
 * Replacement of workspaces' data keys while a service runs: sealed values stay readable, and the old keys
 * are deleted.
 */

const HOUR_MS = 3_600_000
const SECRETS = 250

const log = createTestLog()
let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
let webhook: { id: string; secret: string }
beforeAll(async () => {
  const twilio = await openTwilio()
  clock = createFakeClock()
  const environment = { ...twilio.environment, RATE_LIMIT: '100000', ROLES: 'api' }
  service = await startService({ world: { clock }, environment, log })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await giveNumber(service, twilio, agent, '+15005550101')
  const { prisma } = service.db
  const numbers = Array.from({ length: SECRETS }, (_, n) => n)
  const put = (n: number) => owner.api('PUT', `/agents/${agent.id}/secrets/KEY_${n}`, { value: `value ${n}` })
  while (numbers.length > 0) await Promise.all(numbers.splice(0, 25).map(put))
  webhook = (
    await owner.api('POST', `/agents/${agent.id}/webhooks`, {
      url: 'http://127.0.0.1:9/hook',
      headers: { 'x-key': 'a value 1234' },
    })
  ).body
  webhook = (await owner.api('POST', `/agents/${agent.id}/webhooks/${webhook.id}/rotate`, {})).body
  await owner.api('POST', `/agents/${agent.id}/url`, { text: 'by hand' }, { 'Idempotency-Key': 'kept' })
  await owner.api('POST', '/members/me/identities', { channel: 'sms', value: '+15551234567' })
  await owner.api('POST', '/domains', { name: 'acme.example' })
  await prisma.domain.updateMany({ where: { workspaceId: owner.id }, data: { state: 'verified' } })
  const signIn = { clientId: 'ams', clientSecret: 'a secret', domains: ['acme.example'] }
  await owner.api('PATCH', '/workspace', { signIn: { issuer: 'https://idp.acme.example', ...signIn } })
  const id = randomUUID()
  await prisma.address.create({
    data: { id, workspaceId: owner.id, agentId: agent.id, channel: 'telegram', value: '@a_bot' },
  })
  const token = Uint8Array.from(await service.keyring.seal(owner.id, '1:token', `telegram_bot:${id}`))
  const blobKey = Uint8Array.from(await service.keyring.seal(owner.id, 'a key', `blob_key:${owner.id}`))
  await prisma.blobKey.create({ data: { workspaceId: owner.id, sealed: blobKey } })
  const ended = randomUUID()
  const sealed = Uint8Array.from(await service.keyring.seal(owner.id, 'whsec_AAAA', `webhook:${ended}`))
  const farewell = {
    id: ended,
    agentId: randomUUID(),
    workspaceId: owner.id,
    url: 'http://127.0.0.1:9/',
    secret: sealed,
    previousSecret: sealed,
  }
  await prisma.webhookFarewell.create({ data: { ...farewell, subscription: ended } })
  await prisma.telegramBot.create({
    data: { addressId: id, botId: 1, token, secretHash: new Uint8Array(32), webhookUrl: '' },
  })
})

/** Returns a keyring with an empty cache, as in another process. */
const fresh = () => createKeyring(service.db, service.masterKey, () => [], clock)
const deps = () => ({ ...service.db, clock, log, keyring: fresh(), sealed: SEALED_COLUMNS })
const rotate = async () => {
  const replaced = await replaceDataKey(deps(), service.masterKey, owner.id)
  return { replaced, ...(await finishDataKeys(deps(), { due: false })) }
}
const revealed = async () =>
  (await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, { names: ['KEY_0', 'KEY_249'] })).body

const pageOf = async (page: string, first: readonly string[]) =>
  (await service.db.pool.query<{ sealed: Buffer; bound: string }>(page, [owner.id, first, 100_000])).rows

test('every bytea column is resealed, or is known not to be sealed with a data key', async () => {
  const { rows } = await service.db.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea'`,
  )
  const others = [
    'attachment.content',
    'attachment_text.content',
    'blob.hash',
    'deleted_blob.hash',
    'draft_file.content',
    'identity_link.code_hash',
    'idempotency_key.request_hash',
    'invitation.token_hash',
    'message.fingerprint',
    'message.signed_content',
    'message_raw.content',
    'oauth_record.hash',
    'passkey.credential_id',
    'passkey.public_key',
    'postmaster_mail.digest',
    'retired_data_key.key',
    'setup_link.token_hash',
    'sign_in_link.browser_hash',
    'sign_in_link.hash',
    'telegram_bot.secret_hash',
    'token.hash',
    'workspace.data_key',
  ]
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [...SEALED_COLUMNS.map(({ name }) => name), ...others].sort(),
  )
})

test('all values are resealed, the running service reads them, and the old key is deleted an hour later', async () => {
  for (const { name, page, first } of SEALED_COLUMNS)
    expect({ name, rows: (await pageOf(page, first)).length > 0 }).toEqual({ name, rows: true })
  const { replaced, values, unreadable, retired } = await rotate()
  expect({ replaced, unreadable, retired }).toEqual({ replaced: true, unreadable: 0, retired: 1 })
  expect(values).toBeGreaterThan(SECRETS)
  // A value that the service seals with its cached key is resealed before the old key is deleted.
  await owner.api('PUT', `/agents/${agent.id}/secrets/LATE`, { value: 'late' })
  expect(await revealed()).toEqual({ KEY_0: 'value 0', KEY_249: 'value 249' })
  clock.advance(HOUR_MS)
  expect(await finishDataKeys(deps(), { due: true })).toEqual({ values: 0, unreadable: 0, retired: 1 })
  clock.advance(1)
  expect(await finishDataKeys(deps(), { due: true })).toEqual({ values: 1, unreadable: 0, retired: 0 })
  expect(await service.db.prisma.retiredDataKey.count()).toBe(0)
  const keyring = fresh()
  for (const { page, first } of SEALED_COLUMNS)
    for (const { sealed, bound } of await pageOf(page, first))
      expect(await keyring.reseal(owner.id, sealed, bound)).toBeNull()
  expect(await revealed()).toEqual({ KEY_0: 'value 0', KEY_249: 'value 249' })
  const again = await owner.api(
    'POST',
    `/agents/${agent.id}/url`,
    { text: 'by hand' },
    { 'Idempotency-Key': 'kept' },
  )
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(
    (await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })).body,
  ).toMatchObject({ secret: webhook.secret, headers: { 'x-key': '…1234' } })
})

test('an interrupted replacement continues with the same key after a crash', async () => {
  expect(await replaceDataKey(deps(), service.masterKey, owner.id)).toBe(true)
  const onlySome = SEALED_COLUMNS.slice(1, 3)
  await finishDataKeys({ ...deps(), sealed: onlySome }, { due: false })
  expect(await rotate()).toMatchObject({ replaced: false, unreadable: 0, retired: 1 })
  // The master key changes in between, and the old data keys are wrapped with the new one.
  const [before, after] = [service.masterKey, randomBytes(32)]
  await service.db.prisma.$transaction((tx) => rewrapDataKeys(tx, after, () => [before]))
  const renewed = { ...deps(), keyring: createKeyring(service.db, after, () => [], clock) }
  clock.advance(HOUR_MS)
  expect(await finishDataKeys(renewed, { due: false })).toMatchObject({ unreadable: 0, retired: 1 })
  clock.advance(1)
  expect(await finishDataKeys(renewed, { due: true })).toMatchObject({ unreadable: 0, retired: 0 })
  await service.db.prisma.$transaction((tx) => rewrapDataKeys(tx, before, () => [after]))
  expect(await revealed()).toEqual({ KEY_0: 'value 0', KEY_249: 'value 249' })
})

test('a value that no key opens is logged and does not block the replacement', async () => {
  const where = { agentId_name: { agentId: agent.id, name: 'KEY_7' } }
  await service.db.prisma.secret.update({ where, data: { sealed: new Uint8Array(64).fill(1) } })
  expect(await rotate()).toMatchObject({ replaced: true, unreadable: 1 })
  expect(log.text()).toContain('could not decrypt a stored value with any key')
  await expect(fresh().open(owner.id, new Uint8Array(64).fill(1), 'x')).rejects.toThrow(UnreadableError)
  expect(await revealed()).toEqual({ KEY_0: 'value 0', KEY_249: 'value 249' })
})
