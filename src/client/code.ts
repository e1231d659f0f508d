import type { components, operations } from './api.ts'
import type { AgentCall, CallOptions } from './call.ts'
import { AmsError } from './errors.ts'

export type TakenCode = components['schemas']['TakenCode']

type Wanted = NonNullable<operations['takeCode']['requestBody']>['content']['application/json']

export interface CodeOptions extends Omit<Wanted, 'since' | 'seconds'>, CallOptions {
  /** How long to wait for one; 30 by default, 0 not at all. */
  seconds?: number | undefined
  /** Only of messages received since then; by default in the last 10 minutes before the call. */
  since?: Date | undefined
}

const RECENT_MS = 10 * 60_000
/** Time that one request waits. */
const MAX_WAIT = 30

/** There is none yet; an agent that does not exist has an error of its own. */
const isNone = (error: unknown): boolean =>
  error instanceof AmsError && error.code === 'not_found' && !error.message.includes('agent')

/** Takes a code, or waits for one. Null if none came in time. */
export const takeCode = async (
  call: AgentCall,
  { seconds = 30, since = new Date(Date.now() - RECENT_MS), signal, ...wanted }: CodeOptions,
): Promise<TakenCode | null> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000))
    const body = { ...wanted, since: since.toISOString(), seconds: Math.min(left, MAX_WAIT) }
    try {
      return await call('post', '/agents/{id}/codes/take', { body, signal })
    } catch (error) {
      if (!isNone(error)) throw error
      if (left <= MAX_WAIT) return null
    }
  }
}
