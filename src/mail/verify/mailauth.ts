import './mailauth-tools.ts' // first: the others keep its functions when they are loaded
import arcs from 'mailauth/lib/arc/index.js'
import verifiers from 'mailauth/lib/dkim/dkim-verifier.js'
import spfs from 'mailauth/lib/spf/index.js'
import macro from 'mailauth/lib/spf/macro.js'

/**
 * The parts of mailauth that are used. Its main file also loads BIMI and X.509, in each thread that reads mail.
 * See docs/decisions.md#loaded-on-demand.
 */
export const { spf } = spfs
export const { arc } = arcs
export const { DkimVerifier } = verifiers
export { macro }
