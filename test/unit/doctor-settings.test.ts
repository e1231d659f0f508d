import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkSettings, readValid } from '../../src/doctor/settings.ts'

const dir = mkdtempSync(join(tmpdir(), 'doctor-'))
afterAll(() => rmSync(dir, { recursive: true }))

const findings = async () => JSON.stringify(await checkSettings(readValid({ DATA_DIR: dir })))

test('doctor says at which URL the service can be reached', async () => {
  expect(await findings()).toContain('http://localhost:4000.')
})

test('doctor finds keys in DATA_DIR that other users may read', async () => {
  const file = join(dir, 'master.key')
  writeFileSync(file, 'a key', { mode: 0o600 })
  expect(await findings()).toContain(`DATA_DIR is ${dir}`)
  chmodSync(file, 0o640)
  expect(await findings()).toContain(`Other users may read or change ${file}.`)
  expect(await findings()).not.toContain('DATA_DIR is')
})
