const codedError = (message: string, code: string): Error => Object.assign(new Error(message), { code })

/**
 * Runs `work` with a signal that aborts when `signal` does or after `ms` milliseconds. The reason of the
 * signal says which.
 */
export async function withTimeLimit<Result>(
  ms: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<Result>,
) {
  const limit = new AbortController()
  const stop = () => limit.abort(codedError('stopped before the server answered', 'EABORT'))
  const timer = setTimeout(
    () =>
      limit.abort(codedError('the server was too slow; the remaining recipients are retried', 'ETIMEDOUT')),
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
