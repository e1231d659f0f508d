import base from '../vitest.config.ts'

/** The opt-in suite: the last release beside this one, on one database. It builds that release, which takes a while. */
export default { ...base, test: { ...base.test, include: ['test/release/*.release.ts'] } }
