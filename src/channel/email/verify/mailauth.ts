import { createRequire } from 'node:module'
import type * as Mailauth from 'mailauth'

/**
 * The parts of mailauth that are used. Its main file loads twice as much, for BIMI and X.509: each thread that
 * reads mail would take 0.13 s more of CPU time to start.
 */
const require = createRequire(import.meta.url)
export const { spf }: Pick<typeof Mailauth, 'spf'> = require('mailauth/lib/spf/index.js')
export const { arc }: Pick<typeof Mailauth, 'arc'> = require('mailauth/lib/arc/index.js')
