import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createPrivate } from '../../../src/core/private-file.ts'
import type { TlsPair } from '../../../src/core/tls-pair.ts'
import { ownCertificate } from '../../../src/mail/receive/tls.ts'

const root = mkdtempSync(join(tmpdir(), 'own-certificate-'))
afterAll(() => rmSync(root, { recursive: true }))

const created = (dir: string) => ownCertificate(dir, 'mx.example.com', new Date())
const match = ({ cert, key }: TlsPair) => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
const stored = (dir: string): TlsPair => ({
  cert: readFileSync(join(dir, 'smtp.crt'), 'utf8'),
  key: readFileSync(join(dir, 'smtp.key'), 'utf8'),
})

test('of several that create it at once, all use the key of the first one', async () => {
  const dir = join(root, 'at-once')
  const pairs = await Promise.all(Array.from({ length: 8 }, () => created(dir)))
  expect(pairs.every(match)).toBe(true)
  expect(new Set(pairs.map(({ key }) => key)).size).toBe(1)
  expect(match(stored(dir))).toBe(true)
  expect(await created(dir)).toEqual(stored(dir))
  expect(readdirSync(dir).sort()).toEqual(['smtp.crt', 'smtp.key'])
})

test('one that does not match the key is replaced', async () => {
  const [dir, other] = [join(root, 'one'), join(root, 'other')]
  await created(dir)
  writeFileSync(join(dir, 'smtp.crt'), (await created(other)).cert)
  expect(match(await created(dir))).toBe(true)
  expect(match(stored(dir))).toBe(true)
})

test('the key of a process that comes later does not replace the first one', async () => {
  const file = join(root, 'created')
  await createPrivate(file, 'first')
  await createPrivate(file, 'second')
  expect(readFileSync(file, 'utf8')).toBe('first')
  expect(readdirSync(root).filter((name) => name.startsWith('created'))).toEqual(['created'])
})
