import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'

/** `npm run release` of a checkout in which more is lying about than its commit has. */

const root = join(import.meta.dirname, '..', '..')
const checkout = join(temporaryDir(), 'checkout')
const at = (...path: string[]) => join(checkout, ...path)
const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { encoding: 'utf8' }).trim()
const release = (env: object = {}) =>
  execFileSync(process.execPath, ['src/release.mjs'], {
    ...{ cwd: checkout, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } },
  })

/** The commit of this checkout, with what has changed since. */
const cloneHere = (): void => {
  execFileSync('git', ['clone', '--quiet', '--shared', root, checkout])
  const changed = execFileSync('git', ['diff', '--name-only', 'HEAD'], { cwd: root, encoding: 'utf8' })
  for (const file of changed.trim().split('\n').filter(Boolean)) cpSync(join(root, file), at(file))
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--allow-empty', '-qam', 'as it is')
}

test('a release has what its commit has, and says so truly', () => {
  cloneHere()
  writeFileSync(at('new.md'), '')
  git('config', 'status.showUntrackedFiles', 'no')
  expect(() => release()).toThrow('differ from it:\n?? new.md')
  // What git does not tell of.
  writeFileSync(at('.git', 'info', 'exclude'), '*.yaml\nnew.md\n.env\n')
  // compose.yaml tells to write its secrets there.
  for (const file of [
    'docs/deployment/.env',
    'docs/deployment/own.yaml',
    'docs/deployment/secrets.yaml',
    'docs/new.log',
    'src/web/page/scripts/new.log',
  ])
    writeFileSync(at(file), 'SECRET')
  appendFileSync(at('docs', 'mcp.md'), 'SECRET')
  git('update-index', '--assume-unchanged', 'docs/mcp.md')
  const dry = ['pack', '--dry-run', '--ignore-scripts', '--json']
  expect(execFileSync('npm', dry, { cwd: checkout, encoding: 'utf8' })).not.toMatch(
    /\.env|secrets\.yaml|\.log"/,
  )
  mkdirSync(at('node_modules'))
  release({ COMMIT: 'another' })
  const commit = git('rev-parse', 'HEAD')
  const packed = readdirSync(at('release')).find((name) => name.includes('service'))!
  execFileSync('tar', ['-xzf', at('release', packed), '-C', checkout])
  const files = readdirSync(at('package'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((name) => /\.env$|own\.yaml|new\./.test(name))).toEqual([])
  expect(readFileSync(at('package', 'docs', 'mcp.md'), 'utf8')).not.toContain('SECRET')
  expect(readFileSync(at('package', 'dist', 'commit'), 'utf8')).toBe(commit.slice(0, 12))
  expect(readFileSync(at('release', 'provenance.intoto.json'), 'utf8')).toContain(commit)
})
