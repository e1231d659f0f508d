import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import { firstAccepted } from '../header/address.ts'
import type { Reception } from './reception.ts'

/** Maximum number of recipients of an email that arrives over HTTP. @limit Receiving */
export const MAX_RECIPIENTS = 100

/**
 * Header with which a front says at which positions the recipients are that it has found here: other installations have the others,
 * also those that have moved there. It is not signed, and can only leave recipients out.
 */
export const POSITIONS_HEADER = 'X-Forwarded-Recipients'

/** Returns the recipients that are for this installation: all, unless a front names their positions. */
export const recipientsHere = (requested: readonly string[], headers: IncomingHttpHeaders): string[] => {
  const positions = headers[POSITIONS_HEADER.toLowerCase()]
  return requested.filter(
    (_, n) => positions === undefined || String(positions).split(',').includes(String(n)),
  )
}

/**
 * Resolves the given recipients to mailboxes, without duplicates, and lists the unknown ones. Throws `not_found` if there is no other.
 */
export const findRecipients = async (
  requested: readonly string[],
  reception: Pick<Reception, 'accepts'>,
): Promise<{ recipients: string[]; unknown: string[] }> => {
  const found = await Promise.all(
    requested.map((one) => firstAccepted(one, (address) => reception.accepts(address))),
  )
  const recipients = [...new Set(found.filter((one) => one !== null))]
  if (recipients.length === 0) throw new AppError('not_found', 'No recipient of this message exists here.')
  return { recipients, unknown: requested.filter((_, n) => found[n] === null) }
}
