import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMIT, VERSION } from '../../src/core/version.ts'

/** A version is written once: what repeats it says the same. */

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const versionIn = (file: string): string => JSON.parse(read(file)).version

test('the service has the version of package.json, and knows its commit', () => {
  expect(VERSION).toBe(versionIn('package.json'))
  expect(VERSION).toBe(versionIn('package-lock.json'))
  const head = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).trim()
  expect(COMMIT).toBe(head)
})

test('the client names its own version to the service', () => {
  const version = versionIn('src/client/package.json')
  expect(read('src/client/agent.ts')).toContain(`'@agent-messaging/client/${version}'`)
  expect(read('src/client/cli/settings.ts')).toContain(`'ams/${version}'`)
})

test.each(['README.md', 'src/client/README.md', 'docs/operations.md'])(
  '%s names packages of this version',
  (file) => {
    const packed = [...read(file).matchAll(/agent-messaging-(client|service)-(\d+\.\d+\.\d+)\.tgz/g)]
    expect(packed.length).toBeGreaterThan(0)
    const versions = { client: versionIn('src/client/package.json'), service: VERSION }
    for (const [, name, version] of packed) expect(version).toBe(versions[name as 'client' | 'service'])
  },
)

test('the change log begins with this version', () => {
  expect(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(VERSION)
})
