import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './support/sequencer.ts'

export default defineConfig({
  root: join(import.meta.dirname, '..'),
  // Vite would resolve graphql to its ES module for our sources and to its CommonJS module for packages, and
  // the two reject each other's schemas.
  resolve: {
    alias: [
      {
        find: /^graphql$/,
        replacement: join(import.meta.dirname, '..', 'node_modules', 'graphql', 'index.js'),
      },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['build.ts', 'postgres.ts'].map((file) => join(import.meta.dirname, 'support', file)),
    setupFiles: [join(import.meta.dirname, 'support', 'setup.ts')],
    // Processes, since tests change the environment and stop services; one more than cores, since those that start
    // other processes wait for them.
    // Test files share them: importing the service again for each file took a fifth of the run.
    pool: 'forks',
    isolate: false,
    maxWorkers: availableParallelism() + 1,
    // These only end what hangs. On a busy machine a thread takes seconds to start, a service half a minute, and a build minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A test that fails twice has found a fault; one that fails once may have met a machine that others use.
    // The reporter marks what needed its second attempt.
    retry: process.env.CI ? 1 : 0,
    expect: { poll: { timeout: 180_000 } },
    sequence: { sequencer: LongestFirst, shuffle: { files: false, tests: false } },
    // The second run of a checkout need not compile the sources.
    experimental: { fsModuleCache: true },
    reporters: process.env.VITEST_JSON
      ? ['default', ['json', { outputFile: process.env.VITEST_JSON }]]
      : ['default'],
  },
})
