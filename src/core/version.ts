import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './root.ts'

/** The version of this build, from package.json. */
export const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string })
  .version

/** The version of the API, which changes only when it breaks: no path has it. */
export const API_VERSION = '1.0.0'

const readCommit = (): string | null => {
  try {
    return readFileSync(join(ROOT, 'dist', 'commit'), 'utf8').trim() || null
  } catch {
    return null // built from an archive without its history
  }
}

/** The commit that was built, in 12 hex digits; null if that is not known. */
export const COMMIT = readCommit()
