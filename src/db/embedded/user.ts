import { execFileSync, type SpawnOptions, spawnSync } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from './error.ts'

/** How PostgreSQL's programs are run: as which user, and through which command. */
export interface RunAs {
  /** Undefined: the user that runs the service. */
  owner: { uid: number; gid: number } | undefined
  command(file: string, args: string[]): { file: string; args: string[]; options: SpawnOptions }
}

interface Owner {
  uid: number
  gid: number
}

function lookUp(name: string): Owner | undefined {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

function create(name: string): Owner | undefined {
  for (const [tool, ...args] of [
    ['useradd', '--system', '--no-create-home', '--shell', '/bin/false', name],
    ['adduser', '-S', '-D', '-H', name],
  ] as [string, ...string[]][]) {
    if (spawnSync(tool, args, { stdio: 'ignore' }).status === 0) return lookUp(name)
  }
  return undefined
}

/**
 * Chooses the user for PostgreSQL, which refuses to run as root; initdb also needs a user with a name. An
 * existing database keeps its owner.
 */
function chooseOwner(database: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (existsSync(database)) {
    const { uid, gid } = statSync(database)
    if (uid !== 0) return { uid, gid }
  }
  const owner = lookUp('postgres') ?? lookUp('nobody') ?? create('ams-postgres')
  if (owner) return owner
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and no other user could be created: run the service as another user, or set DATABASE_URL.',
  )
}

/**
 * Returns the outermost folder on the path to `folder`, or `folder` itself, that `owner` cannot pass through.
 */
function blockedAt(folder: string, owner: Owner): string | undefined {
  const way: string[] = []
  for (let step = realpathSync(folder); ; step = dirname(step)) {
    way.unshift(step)
    if (step === dirname(step)) break
  }
  return way.find((step) => {
    const { mode, uid, gid } = statSync(step)
    const execute = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001
    return (mode & execute) === 0
  })
}

/**
 * Without this, the kernel ignores capabilities in access(2), with which initdb looks for its own program.
 */
const SECUREBITS = '--securebits=+no_setuid_fixup'

/**
 * Runs as `owner`, with one capability of root that lets it pass through other users' folders (a checkout in
 * /root, mode 0700). dac_read_search is the weaker one; containers often have only dac_override.
 */
function withCapability({ uid, gid }: Owner, postgres: string): RunAs | undefined {
  for (const capability of ['+dac_read_search', '+dac_override']) {
    const prefix = [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      SECUREBITS,
      `--inh-caps=${capability}`,
      `--ambient-caps=${capability}`,
      '--',
    ]
    if (spawnSync('setpriv', [...prefix, postgres, '--version'], { stdio: 'ignore', cwd: '/' }).status !== 0)
      continue
    return {
      owner: { uid, gid },
      command: (file, args) => ({ file: 'setpriv', args: [...prefix, file, ...args], options: {} }),
    }
  }
  return undefined
}

/**
 * Chooses the user that runs PostgreSQL on the database folder `database` (whose parent exists). Throws
 * `EmbeddedPostgresError` with the name of the blocking folder when that user cannot reach its files.
 */
export function runAs(database: string, postgres: string): RunAs {
  const owner = chooseOwner(database)
  if (!owner) return { owner, command: (file, args) => ({ file, args, options: {} }) }
  const blocked = blockedAt(dirname(postgres), owner) ?? blockedAt(dirname(database), owner)
  if (blocked === undefined) return { owner, command: (file, args) => ({ file, args, options: owner }) }
  const capable = withCapability(owner, postgres)
  if (capable) return capable
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and the user that it runs as (uid ${owner.uid}) cannot pass through ${blocked}. ` +
      `Allow that (chmod o+x ${blocked}), move the checkout and DATA_DIR elsewhere, run the service as another user, or set DATABASE_URL.`,
  )
}
