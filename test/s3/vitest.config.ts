import base from '../vitest.config.ts'

/** The opt-in suite: tests against a real S3 server, OpenStack Swift, which must be installed on the system. */
export default { ...base, test: { ...base.test, include: ['test/s3/*.s3.ts'] } }
