import { type BlobDeps, Blobs } from './blobs.ts'
import { Bucket, type BucketSettings } from './s3.ts'

/** Opens the contents of messages with the settings of an object store, or without one. */
export const openBlobs = (
  deps: BlobDeps,
  settings: (BucketSettings & { minBytes: number }) | undefined,
): Blobs => new Blobs(deps, settings ? { bucket: new Bucket(settings), minBytes: settings.minBytes } : null)
