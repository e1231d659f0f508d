import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: join(import.meta.dirname, '..'),
  // Vite would take graphql's ES module for our sources, while the packages get its CommonJS one: two of it
  // refuse each other's schemas.
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
    // Processes, since tests change the environment and end services; two, for as many cores. Files share them:
    // importing the service anew for each file took a fifth of the run.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    // Patient: on a busy machine a thread takes a second to start, and a service five.
    testTimeout: 40_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    sequence: { shuffle: { files: false, tests: false } },
    reporters: process.env.VITEST_JSON
      ? ['default', ['json', { outputFile: process.env.VITEST_JSON }]]
      : ['default'],
  },
})
