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
    // A process a file: tests send signals, change the environment and end services. Two, for as many cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // As patient as a test: on a busy machine a thread may take a second to start.
    expect: { poll: { timeout: 15_000 } },
    sequence: { shuffle: { files: false, tests: false } },
    reporters: process.env.VITEST_JSON
      ? ['default', ['json', { outputFile: process.env.VITEST_JSON }]]
      : ['default'],
  },
})
