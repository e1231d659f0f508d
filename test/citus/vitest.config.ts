import { join } from 'node:path'
import base from '../vitest.config.ts'
import { missing } from './cluster.ts'

/**
 * The opt-in suite: the tests of flows, crashes and isolation on a database that is distributed with Citus, which must
 * be installed on the system; and those of distributing.
 */

if (missing !== null) process.stderr.write(`No test was run: ${missing}.\n`)

export default {
  ...base,
  test: {
    ...base.test,
    include:
      missing === null
        ? [
            'test/citus/*.citus.ts',
            'test/flow/*.test.ts',
            'test/security/*.test.ts',
            'test/process/*-kill.test.ts',
          ]
        : [],
    passWithNoTests: true,
    globalSetup: [
      join(import.meta.dirname, '..', 'support', 'build.ts'),
      join(import.meta.dirname, 'setup.ts'),
    ],
  },
}
