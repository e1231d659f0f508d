import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>
}
const text = readFileSync(join(root, 'docs', 'libraries.md'), 'utf8')
const places = [...text.matchAll(/^\| (\S+) (\d\S*) \| (.+?) \|/gm)].map(([, name, version, files]) => ({
  name: name!,
  version: version!,
  files: [...files!.matchAll(/\]\(\.\.\/(.+?)\)/g)].map(([, file]) => file!),
}))

test('the places that go around a library are few, and were written for its version', () => {
  expect(places.length).toBeGreaterThan(0)
  expect(places.length).toBeLessThanOrEqual(8)
  expect(Object.fromEntries(places.map(({ name, version }) => [name, version]))).toEqual(
    Object.fromEntries(places.map(({ name }) => [name, devDependencies[name]])),
  )
})

test('each of them is in the files that are named', () => {
  const files = places.flatMap((place) => place.files)
  expect(files.length).toBeGreaterThanOrEqual(places.length)
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
