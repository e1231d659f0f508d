/**
 * `npm run release`: packs the service and the client of the commit that is checked out into release/, with checksums
 * and a statement of their origin (SLSA provenance 1.0 in in-toto's form, not signed). The same commit gives the same
 * bytes on another machine with the same Node and npm, so that anybody can check the statement.
 *
 * All is made in a clone with the packages that are locked: files that git ignores, changes that it does not see, other
 * versions in node_modules and a COMMIT in the environment would be in the package, and the statement would be wrong.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const out = (...parts) => path.join(root, 'release', ...parts)
const { COMMIT: _, ...env } = process.env
const runIn = (cwd, command, ...args) => execFileSync(command, args, { cwd, env, encoding: 'utf8' }).trim()
const sha256 = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex')

const pack = (clone, ...args) => {
  const [{ filename }] = JSON.parse(
    runIn(clone, 'npm', 'pack', ...args, '--json', '--pack-destination', out()),
  )
  return filename
}

function statementOf(subjects, clone, startedOn) {
  const commit = runIn(clone, 'git', 'rev-parse', 'HEAD')
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map((name) => ({ name, digest: { sha256: sha256(out(name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:agent-messaging-service:npm-run-release',
        externalParameters: { commit },
        internalParameters: { node: process.version, npm: runIn(clone, 'npm', '--version') },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(path.join(clone, 'package-lock.json')) } },
        ],
      },
      runDetails: {
        builder: { id: process.env.BUILDER_ID ?? 'urn:agent-messaging-service:local' },
        metadata: { startedOn, finishedOn: new Date().toISOString() },
      },
    },
  }
}

function release(clone) {
  const startedOn = new Date().toISOString()
  runIn(root, 'git', 'clone', '--quiet', '--shared', root, clone)
  runIn(clone, 'npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline')
  fs.rmSync(out(), { recursive: true, force: true })
  fs.mkdirSync(out())
  const subjects = [pack(clone), pack(clone, './dist/client'), 'sbom.cdx.json']
  fs.copyFileSync(path.join(clone, 'dist', 'sbom.cdx.json'), out('sbom.cdx.json'))
  const provenance = 'provenance.intoto.json'
  const statement = statementOf(subjects, clone, startedOn)
  fs.writeFileSync(out(provenance), `${JSON.stringify(statement, null, 2)}\n`)
  const sums = [...subjects, provenance].map((name) => `${sha256(out(name))}  ${name}\n`)
  fs.writeFileSync(out('SHA256SUMS'), sums.join(''))
  process.stdout.write(sums.join(''))
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'release-'))
try {
  const changed = runIn(root, 'git', 'status', '--porcelain', '--untracked-files=normal')
  if (changed) throw new Error(`A release is made of a commit, and these files differ from it:\n${changed}`)
  release(path.join(folder, 'clone'))
} catch (error) {
  process.stderr.write(`${error.stderr || error.message}\n`)
  process.exitCode = 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
