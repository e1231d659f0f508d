import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * What tests run as processes and threads of their own is the compiled service: it must be of the sources
 * that they test.
 */
export const setup = (): void => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')], {
    stdio: 'inherit',
  })
}
