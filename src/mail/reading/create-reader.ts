import type { MailReader, ReaderOptions, Reading } from './mail-reader.ts'
import { ProcessTransport } from './process-transport.ts'
import { LIMITS, VIEWING } from './reader-limits.ts'
import { ReaderPool } from './reader-pool.ts'
import { ThreadTransport } from './thread-transport.ts'

/** With the message being read, a process takes about as much memory as for one of 25 MiB. */
const MAX_LONG_WAITING = 16 * 1024 * 1024

/** Threads for short messages, and a process for long ones. */
function createPools({ limits, ...options }: ReaderOptions) {
  const { threads, perThread, threadIdleMs, longBytes, idleMs, ...each } = { ...LIMITS, ...limits }
  const short = new ReaderPool({
    ...options,
    open: (...settings) => new ThreadTransport(...settings),
    limits: { ...each, workers: threads, perWorker: perThread, idleMs: threadIdleMs },
  })
  const long = new ReaderPool({
    ...options,
    open: (...settings) => new ProcessTransport(...settings),
    // One at a time because of the memory they take, with others that wait for DNS. There is no other worker for
    // waiting messages to move to.
    limits: {
      ...{ ...each, idleMs, workers: 1, perWorker: 1, overtakeMs: Number.POSITIVE_INFINITY },
      waitingBytes: MAX_LONG_WAITING,
    },
  })
  return {
    for: ({ raw }: Pick<Reading, 'raw'>) => (raw.length > longBytes ? long : short),
    close: async () => {
      await Promise.all([short.close(), long.close()])
    },
  }
}

/** Creates a mail reader. Its threads, and the processes for long messages, are started on demand. */
export function createMailReader(options: ReaderOptions): MailReader {
  const reading = createPools(options)
  const viewing = createPools({ ...options, limits: { ...options.limits, ...VIEWING } })
  return {
    read: (message) => reading.for(message).read(message),
    view: (message) => viewing.for(message).view(message),
    close: async () => {
      await Promise.all([reading.close(), viewing.close()])
    },
  }
}
