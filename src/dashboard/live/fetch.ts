import { isPassing } from './failure.ts'
import { noTrouble, sayTrouble } from './trouble.ts'

/**
 * How requests go to the service: all queries of one moment as one, and again after a failure that may pass. When
 * the service asks to wait, every query of this tab waits. The service limits what one request may read: what it
 * refuses for that reason among others is repeated automatically.
 */

/** Queries that are made within this time go together. */
const GATHER_MS = 8
/** As many operations as the service takes in one request. */
const MOST_TOGETHER = 10
/** How often a query is tried before its failure is shown; one for which the service asks to wait, until it can be. */
const TRIES = 3
const FIRST_PAUSE_MS = 500
const LAST_PAUSE_MS = 30_000
/** A query without an answer for so long has failed. */
const PATIENCE_MS = 60_000
/** For a mutation nobody waits longer. */
const SHORT_WAIT_MS = 15_000

interface Job {
  body: string
  tries: number
  /** It was too much for the service together with others. */
  isAlone: boolean
  /** When it is sent. */
  at: number
  /** Those who want the answer. */
  asked: { answer(response: Response): void; fail(error: unknown): void }[]
}

const jobs = new Map<string, Job>()
let headers: HeadersInit | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let limitedUntil = 0
let running = 0
let sent = 0

/** How many requests this tab has sent for queries. */
export const sentRequests = (): number => sent

/** Whether a query is being answered, or waits for its next try. */
export const isReading = (): boolean => running > 0 || jobs.size > 0

interface Errors {
  errors?: { extensions?: { code?: string; field?: string } }[]
}

/** The code of a failure that may pass. */
const codeOf = (answer: Errors | undefined): string =>
  answer?.errors?.map(({ extensions }) => extensions?.code ?? '').find(isPassing) ?? ''

const isTooMuch = (answer: Errors | undefined): boolean =>
  answer?.errors?.some(
    ({ extensions }) => extensions?.code === 'invalid_input' && extensions.field === 'query',
  ) ?? false

const retryAfterOf = (response: Response): number => Number(response.headers.get('Retry-After') ?? 0) * 1_000

const schedule = (): void => {
  clearTimeout(timer)
  if (jobs.size === 0) return
  const first = Math.min(...[...jobs.values()].map(({ at }) => at))
  timer = setTimeout(send, Math.max(first, limitedUntil) - Date.now())
}

const enqueue = (job: Job): void => {
  const newer = jobs.get(job.body)
  if (!newer) jobs.set(job.body, job)
  newer?.asked.push(...job.asked)
}

/** Tries a job again later; returns false when it has been tried often enough. */
const again = (job: Job, limitedMs: number | null): boolean => {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** job.tries++, LAST_PAUSE_MS) * (0.5 + Math.random() / 2)
  if (limitedMs !== null) limitedUntil = Math.max(limitedUntil, Date.now() + limitedMs + pause)
  sayTrouble(limitedMs === null ? null : limitedUntil)
  if (limitedMs === null && job.tries >= TRIES) return false
  enqueue({ ...job, at: Date.now() + pause })
  return true
}

const settle = (job: Job, response: Response, text: string, answer: Errors | undefined): boolean => {
  const code = codeOf(answer)
  const isLimited = response.status === 429 || code === 'rate_limited'
  const hasFailed = isLimited || response.status >= 500 || code !== ''
  if (hasFailed && again(job, isLimited ? Math.max(retryAfterOf(response), 1_000) : null)) return false
  for (const one of job.asked)
    one.answer(new Response(text, { status: response.status, headers: response.headers }))
  return !hasFailed
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null // such as a proxy's page
  }
}

const request = async (together: readonly Job[]): Promise<void> => {
  const bodies = together.map(({ body }) => body)
  running++
  sent++
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: bodies.length === 1 ? bodies[0]! : `[${bodies.join()}]`,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    const all = parsed(text)
    const settled = together.map((job, index) => {
      const own = Array.isArray(all) ? all[index] : all
      if (together.length > 1 && isTooMuch(own)) {
        enqueue({ ...job, isAlone: true, at: Date.now() })
        return true
      }
      return settle(job, response, Array.isArray(all) ? JSON.stringify(own) : text, own)
    })
    if (settled.every(Boolean)) noTrouble()
  } catch (error) {
    for (const job of together) if (!again(job, null)) for (const one of job.asked) one.fail(error)
  } finally {
    running--
    schedule()
  }
}

const send = (): void => {
  const waiting = [...jobs.values()].sort((one, other) => one.at - other.at)
  const together = waiting[0]?.isAlone
    ? waiting.slice(0, 1)
    : waiting.filter(({ isAlone }) => !isAlone).slice(0, MOST_TOGETHER)
  // All that waited may have been aborted.
  if (together.length === 0) return
  for (const { body } of together) jobs.delete(body)
  void request(together)
  schedule()
}

/** Tries everything that waits again now, as when the network has come back. */
export const tryAgain = (): void => {
  for (const job of jobs.values()) job.at = 0
  schedule()
}

addEventListener('online', tryAgain)

const query = (body: string, signal: AbortSignal | null | undefined): Promise<Response> =>
  new Promise((answer, fail) => {
    const asked = { answer, fail }
    const job = jobs.get(body) ?? { body, tries: 0, isAlone: false, at: Date.now() + GATHER_MS, asked: [] }
    job.asked.push(asked)
    job.at = Math.min(job.at, Date.now() + GATHER_MS)
    jobs.set(body, job)
    signal?.addEventListener('abort', () => {
      job.asked = job.asked.filter((one) => one !== asked)
      if (job.asked.length === 0 && jobs.get(body) === job) jobs.delete(body)
      fail(signal.reason)
    })
    schedule()
  })

/** A mutation goes alone; one that comes too soon waits once, if it is not for long. */
const mutate = async (url: RequestInfo | URL, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  const wait = retryAfterOf(response)
  if (response.status !== 429 || wait > SHORT_WAIT_MS) return response
  sayTrouble(Date.now() + wait)
  await new Promise((resolve) => setTimeout(resolve, wait))
  noTrouble()
  return fetch(url, init)
}

/** What the GraphQL client uses instead of the browser's `fetch`. */
export const gatheringFetch: typeof fetch = (url, init = {}) => {
  const body = String(init.body)
  if (/^\{[^{]*"query":"\s*mutation\b/.test(body)) return mutate(url, init)
  headers = { 'X-Requested-By': new Headers(init.headers).get('X-Requested-By') ?? '' }
  return query(body, init.signal)
}
