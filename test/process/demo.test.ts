import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { until } from '../support/until.ts'

const places = [temporaryDir(), temporaryDir()] as const
beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)
afterAll(async () => {
  for (const place of places) await cleanUp(place)
})

test('the demo prints all of its steps and leaves no files behind', async () => {
  const demo = run({ TMPDIR: places[0] }, 'demo')
  expect({ ...(await demo.exited), stderr: demo.stderr }).toEqual({ code: 0, signal: null, stderr: '' })
  const lines = demo.stdout.split('\n').filter((line) => /^\d+\. /.test(line))
  expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(
    Array.from({ length: 16 }, (_, index) => index + 1),
  )
  expect(readdirSync(places[0])).toEqual([])
})

test('an interrupted demo leaves no files behind', async () => {
  const demo = run({ TMPDIR: places[1] }, 'demo')
  await until(() => demo.stdout.startsWith('1. '))
  demo.kill('SIGINT')
  expect({ ...(await demo.exited), stderr: demo.stderr }).toEqual({
    code: 1,
    signal: null,
    stderr: 'The demo was interrupted.\n',
  })
  expect(readdirSync(places[1])).toEqual([])
})
