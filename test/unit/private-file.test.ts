import { chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPrivate, writePrivate } from '../../src/core/private-file.ts'
import { temporaryDir } from '../support/postgres.ts'

// `rotate-key` as root would leave a master.key that the service cannot read: it would not start again.
test.skipIf(process.getuid?.() !== 0)('root writes for the owner of the folder', async () => {
  const dir = temporaryDir()
  const [written, created] = [join(dir, 'written'), join(dir, 'created')]
  chownSync(dir, 4711, 4712)
  await writePrivate(written, 'a key')
  await createPrivate(created, 'a key')
  for (const file of [written, created])
    expect(statSync(file)).toMatchObject({ uid: 4711, gid: 4712, mode: 0o100600 })
  chownSync(dir, 0, 0)
  await writePrivate(written, 'another key')
  expect(statSync(written)).toMatchObject({ uid: 0, gid: 0 })
})
