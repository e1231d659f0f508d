import { SLOW } from '../slow/files.ts'
import base from '../vitest.config.ts'

/** `npm test`: what a person waits for. */
export default { ...base, test: { ...base.test, exclude: SLOW } }
