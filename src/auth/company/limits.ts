import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { RateLimits } from '../../workspace/index.ts'
import { clientKeyOf } from '../client-key.ts'

/** Requests to sign in with a company's account that lead nowhere, within an hour from one place. @limit Signing in */
const MISSES_AN_HOUR = 120
/** Sign-ins at the company of one workspace that can be begun within an hour from one place, which may be a whole office. @limit Signing in */
const BEGUN_AN_HOUR = 1_000
/** Messages of one workspace's provider that persons have signed out, within an hour from one place. @limit Signing in */
const LOGOUTS_AN_HOUR = 5_000
const HOUR_MS = 3_600_000

const LIMITS = { miss: MISSES_AN_HOUR, begin: BEGUN_AN_HOUR, logout: LOGOUTS_AN_HOUR }

/** Counts a request of a client: misses together, all else for its workspace. Throws `rate_limited`. */
export const countRequest = (
  { rates, clock }: { rates: Pick<RateLimits, 'takeAll'>; clock: Clock },
  request: IncomingMessage,
  kind: keyof typeof LIMITS,
  workspaceId = '',
): void => {
  const client = clientKeyOf(request)
  const use = {
    key: `company ${kind} ${workspaceId} from:${client}`,
    limit: LIMITS[kind],
    windowMs: HOUR_MS,
  }
  if (!client || !rates.takeAll([use])) return
  throw new AppError('rate_limited', 'Too many sign-ins with a company’s account from one place.', {
    retryAfter: Math.ceil((HOUR_MS - (clock.now().getTime() % HOUR_MS)) / 1000),
  })
}
