import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
  })

/** A folder in which the packed client is installed, as a user installs it; `packed` are the tarball's files. */
export const installClient = (dir: string): { app: string; packed: string[] } => {
  const app = join(dir, 'app')
  mkdirSync(app)
  const listed = JSON.parse(npm(dir, 'pack', join(root, 'dist', 'client'), '--json'))
  // npm 11 and older tell an array, newer ones an object by name.
  const [{ files }] = Object.values(listed) as [{ files: { path: string }[] }]
  const tarball = readdirSync(dir).find((file) => file.endsWith('.tgz'))!
  writeFileSync(join(app, 'package.json'), '{"private": true}')
  npm(app, 'install', join('..', tarball))
  return { app, packed: files.map(({ path }) => path) }
}
