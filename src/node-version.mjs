/**
 * Imported before everything else that `npm start` loads: an older Node would fail somewhere in the middle, in
 * words that only its developers understand.
 */
import { readFileSync } from 'node:fs'

const manifest = new URL('../package.json', import.meta.url)

/** Returns why a version of Node such as `20.19.0` is too old, or null. */
export const complaintAbout = (version) => {
  const { node } = JSON.parse(readFileSync(manifest, 'utf8')).engines
  const partsOf = (text) => text.match(/\d+/g).map(Number)
  const [least, given] = [partsOf(node), partsOf(version)]
  const differs = least.findIndex((part, index) => part !== (given[index] ?? 0))
  if (differs === -1 || (given[differs] ?? 0) > least[differs]) return null
  return `This is Node ${version}; the service takes Node ${least.join('.')} or newer (https://nodejs.org).`
}

const complaint = complaintAbout(process.versions.node)
if (complaint !== null) {
  process.stderr.write(`${complaint}\n`)
  process.exit(2)
}
