import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { satisfies } from 'semver'
import { expect, test } from 'vitest'
// @ts-expect-error: plain JavaScript, because it runs before anything is compiled
import { complaintAbout } from '../../src/node-version.mjs'

const root = join(import.meta.dirname, '..', '..')

test.each(['18.20.8', '20.18.3', '9.0.0'])('Node %s is too old', (version) => {
  expect(complaintAbout(version)).toBe(
    `This is Node ${version}; the service takes Node 20.19 or newer (https://nodejs.org).`,
  )
})

test.each(['20.19.0', '20.20.2', '22.0.0', '100.1.0'])('Node %s is new enough', (version) => {
  expect(complaintAbout(version)).toBeNull()
})

test('the program imports nothing else before the check', () => {
  const source = readFileSync(join(root, 'src', 'main.ts'), 'utf8')
  expect(source.match(/^import .*$/gm)).toEqual(["import './node-version.mjs'"])
})

/** Runs on Node 20 too, as `test/process/machine-node.test.ts` shows of the parts that are used (docs/libraries.md). */
const ASKS_FOR_MORE = 'node_modules/mailauth'

// npm prints five lines for each package that does not.
test.each(['20.19.0', '20.20.2', '22.22.0', '24.0.0', '26.0.0'])(
  'every package that npm ci installs takes Node %s, or is known to run on it',
  (version) => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    const refusing = Object.entries<{ engines?: { node?: string } }>(packages).filter(
      ([path, { engines }]) => path !== ASKS_FOR_MORE && engines?.node && !satisfies(version, engines.node),
    )
    expect(refusing.map(([path]) => path)).toEqual([])
  },
)
