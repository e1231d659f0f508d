import base from '../vitest.config.ts'

/** The opt-in suite: tests that need a mail server installed on the system, and the rights to start it. */
export default { ...base, test: { ...base.test, include: ['test/mta/*.mta.ts'] } }
