import { type Blobs, openBlobs } from './blob/index.ts'
import type { Foundation } from './boot/foundation.ts'
import { type Config, ConfigError } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import { moveContents } from './message/index.ts'
import { createKeyring } from './workspace/index.ts'

/** What the operator's commands need for the contents of messages, which may be in an object store. */

interface Given {
  config: Config
  log: Logger
  foundation: Foundation
}

export const blobsOf = ({ config, log, foundation: { db, masterKey, otherKeys } }: Given): Blobs => {
  const keyring = createKeyring(db, masterKey, otherKeys)
  return openBlobs({ ...db, keyring, log, clock: systemClock }, config.objectStore)
}

/** Time in milliseconds between two lines of progress. */
const PROGRESS_MS = 2_000

/** Moves the contents of messages into the object store, or back. Tells how far it is in JSON lines. */
export const moveTo = (
  to: 'store' | 'database',
  { say, ...given }: Given & { say(line: string): void },
): Promise<object> => {
  if (!given.config.objectStore)
    throw new ConfigError(['BLOB_URL is not set; set it to the bucket, as for the service.'])
  let told = Number.NEGATIVE_INFINITY
  const progress = (moved: object, upTo: Date): void => {
    if (performance.now() - told < PROGRESS_MS) return
    told = performance.now()
    say(JSON.stringify({ progress: { ...moved, upTo } }))
  }
  return moveContents({ ...given.foundation.db, blobs: blobsOf(given) }, { to, progress })
}
