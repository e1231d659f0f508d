import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Compiles the service: tests that start processes and threads run the compiled code, which must match the
 * sources under test.
 */
export const setup = (): void => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')], {
    stdio: 'inherit',
  })
}
