/**
 * `npm run release`: packs the service and the client of the commit that is checked out into release/, with checksums
 * and a statement of their origin (SLSA provenance 1.0 in in-toto's form, not signed). The same commit gives the same
 * bytes on another machine with the same Node and npm, so that anybody can check the statement.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const at = (...parts) => path.join(root, ...parts)
const run = (command, ...args) => execFileSync(command, args, { cwd: root, encoding: 'utf8' }).trim()
const sha256 = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex')

const pack = (...args) => {
  const [{ filename }] = JSON.parse(
    run('npm', 'pack', ...args, '--json', '--pack-destination', at('release')),
  )
  return filename
}

function statementOf(subjects, startedOn) {
  const commit = run('git', 'rev-parse', 'HEAD')
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map((name) => ({ name, digest: { sha256: sha256(at('release', name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:agent-messaging-service:npm-run-release',
        externalParameters: { commit },
        internalParameters: { node: process.version, npm: run('npm', '--version') },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(at('package-lock.json')) } },
        ],
      },
      runDetails: {
        builder: { id: process.env.BUILDER_ID ?? 'urn:agent-messaging-service:local' },
        metadata: { startedOn, finishedOn: new Date().toISOString() },
      },
    },
  }
}

function release() {
  const changed = run('git', 'status', '--porcelain')
  if (changed) throw new Error(`A release is made of a commit, and these files differ from it:\n${changed}`)
  const startedOn = new Date().toISOString()
  fs.rmSync(at('release'), { recursive: true, force: true })
  fs.rmSync(at('dist'), { recursive: true, force: true })
  fs.mkdirSync(at('release'))
  const subjects = [pack(), pack('./dist/client'), 'sbom.cdx.json']
  fs.copyFileSync(at('dist', 'sbom.cdx.json'), at('release', 'sbom.cdx.json'))
  const provenance = 'provenance.intoto.json'
  fs.writeFileSync(
    at('release', provenance),
    `${JSON.stringify(statementOf(subjects, startedOn), null, 2)}\n`,
  )
  const sums = [...subjects, provenance].map((name) => `${sha256(at('release', name))}  ${name}\n`)
  fs.writeFileSync(at('release', 'SHA256SUMS'), sums.join(''))
  process.stdout.write(sums.join(''))
}

try {
  release()
} catch (error) {
  process.stderr.write(`${error.stderr || error.message}\n`)
  process.exitCode = 1
}
