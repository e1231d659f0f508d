import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
const ENOUGH = 2 * 1024 ** 3

/** Tests run programs from their folders, which a mount may forbid. */
const isUsable = (): boolean => {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, folder]) => folder === MEMORY)
    const { bavail, bsize } = statfsSync(MEMORY)
    return mount?.[2] === 'tmpfs' && !mount[3]?.split(',').includes('noexec') && bavail * bsize > ENOUGH
  } catch {
    return false
  }
}

/**
 * Where tests have their folders: in memory where there is enough of it, since a database is more than 600 files,
 * which take PostgreSQL 0.03 s of CPU time to copy there and 0.4 s on a disk.
 */
export const temporaryRoot: string = isUsable() ? MEMORY : tmpdir()
