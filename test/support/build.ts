import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from './postgres.ts'

/**
 * Compiles the service: tests that start processes and threads run the compiled code, which must match the
 * sources under test. Those processes share what V8 has compiled of it, which is a quarter of the CPU time of a start.
 */
export const setup = (): (() => void) => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')], {
    stdio: 'inherit',
  })
  const cache = temporaryDir()
  process.env.NODE_COMPILE_CACHE = cache
  // The workers, which end at the same time, write there what they have compiled.
  return () => rmSync(cache, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}
