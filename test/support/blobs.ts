import type { BlobDeps, Blobs } from '../../src/blob/blobs.ts'
import { openBlobs } from '../../src/blob/open.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { TestService } from './service.ts'

/** The contents of a service's messages, as another process without an object store opens them. */
export const blobsOf = ({ db, keyring }: Pick<TestService, 'db' | 'keyring'>): Blobs =>
  openBlobs({ ...db, keyring, clock: systemClock, log: silentLogger } satisfies BlobDeps, undefined)
