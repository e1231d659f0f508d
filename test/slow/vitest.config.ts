import base from '../vitest.config.ts'
import { SLOW } from './files.ts'

/** `npm run test:slow`: the tests that `npm test` leaves out. */
export default { ...base, test: { ...base.test, include: SLOW } }
