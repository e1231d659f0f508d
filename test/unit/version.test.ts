import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMIT, VERSION } from '../../src/core/version.ts'

/** A version is written once: what repeats it says the same. */

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const versionIn = (file: string): string => JSON.parse(read(file)).version

test('the service has the version of package.json', () => {
  expect(VERSION).toBe(versionIn('package.json'))
  expect(VERSION).toBe(versionIn('package-lock.json'))
})

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The commit that is checked out; undefined where there is no history, or git cannot be used. */
const head = (): string | undefined => {
  try {
    return existsSync(join(root, '.git')) ? run('git', 'rev-parse', '--short=12', 'HEAD') : undefined
  } catch {
    return undefined
  }
}

test('a build notes its commit', ({ skip }) => {
  const commit = head()
  if (commit === undefined) skip('the commit is not known here')
  run(process.execPath, join('src', 'build.mjs'))
  expect(read(join('dist', 'commit'))).toBe(commit)
  expect(COMMIT).toMatch(/^[0-9a-f]{12,}$/)
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

test('the change log begins with this version, below what is not released', () => {
  expect(/^## (?!Unreleased)(\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(VERSION)
})
