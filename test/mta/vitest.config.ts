import base from '../vitest.config.ts'

/** The opt-in suite: what needs a mail server of the system's, and the rights to start one. */
export default { ...base, test: { ...base.test, include: ['test/mta/*.mta.ts'] } }
