import type pg from 'pg'

/** A pool whose database can be made unavailable (queries fail) or made to hang, for one of its users. */
export interface GatedPool {
  pool: pg.Pool
  /**
   * `open`: works normally. `away`: every query fails as with a refused connection. `frozen`: every query
   * waits until the state is `open` again.
   */
  set(state: 'open' | 'away' | 'frozen'): void
}

export const gatePool = (pool: pg.Pool): GatedPool => {
  let state: 'open' | 'away' | 'frozen' = 'open'
  let waiting: (() => void)[] = []

  const pass = async <T>(work: () => Promise<T>): Promise<T> => {
    if (state === 'away') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    if (state === 'frozen') await new Promise<void>((resolve) => waiting.push(resolve))
    return work()
  }

  const gated = new Proxy(pool, {
    get(target, key) {
      if (key === 'query')
        return (...args: Parameters<pg.Pool['query']>) =>
          pass(() => target.query(...args) as unknown as Promise<unknown>)
      if (key === 'connect') return () => pass(() => target.connect())
      return Reflect.get(target, key)
    },
  })
  return {
    pool: gated,
    set(next) {
      state = next
      if (next !== 'open') return
      for (const go of waiting) go()
      waiting = []
    },
  }
}
