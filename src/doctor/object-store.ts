import { Bucket } from '../blob/index.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import type { OpenDatabase } from './database.ts'
import { type Finding, ok, problem } from './report.ts'

/** Without the setting, nobody can read what was stored while it was set. */
const checkUnused = async ({ db }: OpenDatabase): Promise<Finding[]> =>
  (await db.prisma.blob.findFirst())
    ? [
        problem(
          'BLOB_URL is not set, but contents of messages are in an object store.',
          'Set BLOB_URL to the bucket that they are in; move-blobs --to database moves them back.',
        ),
      ]
    : []

/** Checks whether the bucket of BLOB_URL can be used, if there is one. */
export const checkObjectStore = async (
  { objectStore }: Config,
  database: OpenDatabase | null,
): Promise<Finding[]> => {
  if (!objectStore) return database?.migrated ? checkUnused(database) : []
  const bucket = new Bucket(objectStore)
  const { url } = objectStore
  try {
    await bucket.check()
    return [ok(`The bucket ${url} can be used.`)]
  } catch (error) {
    const advice =
      'Correct BLOB_URL, AWS_REGION, the endpoint or the credentials, or see the log of the store. Until then no mail is accepted.'
    return [problem(`The bucket ${url} cannot be used: ${messageOf(error)}`, advice)]
  } finally {
    await bucket.close()
  }
}
