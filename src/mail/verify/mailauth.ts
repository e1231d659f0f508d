import arcs from 'mailauth/lib/arc/index.js'
import verifiers from 'mailauth/lib/dkim/dkim-verifier.js'
import dmarcRecords from 'mailauth/lib/dmarc/get-dmarc-record.js'
import spfs from 'mailauth/lib/spf/index.js'

/**
 * The parts of mailauth that are used. Its main file also loads BIMI and X.509, in each thread that reads mail.
 * See docs/decisions.md#loaded-on-demand.
 */
export const { spf } = spfs
export const { arc } = arcs
export const { DkimVerifier } = verifiers
export const { createRecordLookup, discoverPolicy, domainExists, getOrgDomain, getPolicyTags } = dmarcRecords
