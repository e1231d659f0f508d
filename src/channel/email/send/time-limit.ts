/** Why an attempt ended before the other side had answered. */
const broken = (message: string, code: string): Error => Object.assign(new Error(message), { code })

/**
 * Does `work` with a signal that aborts when `signal` does, and after `ms` milliseconds. Its reason says
 * which.
 */
export async function withTimeLimit<Result>(
  ms: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<Result>,
) {
  const limit = new AbortController()
  const stop = () => limit.abort(broken('stopped before the server answered', 'EABORT'))
  const timer = setTimeout(
    () => limit.abort(broken('the server was too slow; the remaining recipients are retried', 'ETIMEDOUT')),
    ms,
  )
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
