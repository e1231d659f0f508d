/**
 * `npm run lines`: how many lines each area of `src` has that are written by hand. Printed files do not count.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const src = join(import.meta.dirname, '..', 'src')
const WRITTEN = /\.(?:tsx?|mjs|js|css|html|py)$/
const PRINTED =
  /^(?:client\/api\.ts|client\/python\/agent_messaging\/api\.py|dashboard\/live\/schema\.d\.ts|db\/generated\/)/

const areas = new Map<string, number>()
for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
  if (!WRITTEN.test(file) || PRINTED.test(file)) continue
  const area = file.includes('/') ? file.slice(0, file.indexOf('/')) : '(start)'
  const lines = readFileSync(join(src, file), 'utf8').split('\n').length - 1
  areas.set(area, (areas.get(area) ?? 0) + lines)
}

const sorted = [...areas].sort(([, one], [, other]) => other - one)
const all = sorted.reduce((sum, [, lines]) => sum + lines, 0)
// `npm run lines | head` closes our output: nothing is wrong with that.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
for (const [area, lines] of [['all of src', all] as const, ...sorted])
  process.stdout.write(`${lines.toLocaleString('en').padStart(8)}  ${area}\n`)
