/**
 * Runs before `npm pack`, after the build: writes which packages are in the bundles, as CycloneDX (dist/sbom.cdx.json)
 * and with their licences (dist/licenses.txt), and removes what earlier builds left in dist/chunks.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const at = (...parts) => path.join(root, ...parts)
const readJson = (...parts) => JSON.parse(fs.readFileSync(at(...parts), 'utf8'))

const service = readJson('dist', '.bundle.json')
const locked = readJson('package-lock.json').packages
const { name, version, optionalDependencies } = readJson('package.json')

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const folderOf = (file) => PACKAGE.exec(file)?.[0] ?? []
/** The folders of the bundled packages, as package-lock.json names them. */
const bundled = [
  ...new Set([...service.inputs, ...readJson('dist', 'dashboard', '.modules.json')].flatMap(folderOf)),
].sort()
for (const folder of bundled) {
  const installed = readJson(folder, 'package.json').version
  if (installed === locked[folder]?.version) continue
  process.stderr.write(`${folder} has version ${installed}, and not that of package-lock.json: run npm ci.\n`)
  process.exit(1)
}
const idOf = (folder) => `${folder.split('node_modules/').at(-1)}@${locked[folder].version}`

/** What npm lists of all that is locked, without what is only for development. */
function billOfMaterials() {
  const embedded = Object.entries(optionalDependencies).map(([one, exact]) => `${one}@${exact}`)
  const kept = new Set([`${name}@${version}`, ...bundled.map(idOf), ...embedded])
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const all = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }))
  // Packed again, the same commit gives the same bytes.
  const { serialNumber: _, ...rest } = all
  const { timestamp: __, component, ...metadata } = all.metadata
  return {
    ...rest,
    metadata: { ...metadata, component: { ...component, name } }, // npm takes the name of the folder
    components: all.components
      .filter((one) => kept.has(one['bom-ref']))
      .map((one) => ({ ...one, properties: one.properties.filter((it) => !/:development$/.test(it.name)) })),
    dependencies: all.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((ref) => kept.has(ref)) })),
  }
}

const LICENSE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
const read = (folder, file) => fs.readFileSync(at(folder, file), 'utf8').trim()

/** Most licences want their text to come with each copy. */
function licenseOf(folder) {
  const files = fs.readdirSync(at(folder)).filter((file) => LICENSE.test(file))
  const texts = files.map((file) => read(folder, file))
  return [`${idOf(folder)} (${locked[folder].license})`, ...texts].join('\n\n')
}

const line = `\n\n${'-'.repeat(80)}\n\n`
fs.writeFileSync(at('dist', 'licenses.txt'), `${bundled.map(licenseOf).join(line)}\n`)
fs.writeFileSync(at('dist', 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(), null, 2)}\n`)

for (const file of fs.readdirSync(at('dist', 'chunks')))
  if (!service.outputs.includes(`dist/chunks/${file}`)) fs.rmSync(at('dist', 'chunks', file))
