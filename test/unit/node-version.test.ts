import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error: plain JavaScript, because it runs before anything is compiled
import { complaintAbout } from '../../src/node-version.mjs'

test.each(['18.20.8', '20.18.3', '9.0.0'])('Node %s is too old', (version) => {
  expect(complaintAbout(version)).toBe(
    `This is Node ${version}; the service takes Node 20.19 or newer (https://nodejs.org).`,
  )
})

test.each(['20.19.0', '20.20.2', '22.0.0', '100.1.0'])('Node %s is new enough', (version) => {
  expect(complaintAbout(version)).toBeNull()
})

test('the program imports nothing else before the check', () => {
  const source = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'main.ts'), 'utf8')
  expect(source.match(/^import .*$/gm)).toEqual(["import './node-version.mjs'"])
})
