import type pg from 'pg'
import { type BlobName, type Bucket, keyOf } from '../blob/index.ts'
import type { Logger } from '../core/logger.ts'

const PARALLEL = 8
const PAGE = 1_000

const PAGE_OF = `
  select id, agent_id as "agentId", workspace_id as "workspaceId", hash from blob
   where workspace_id = $1 and (id, agent_id) > ($2::uuid, $3::uuid) order by id, agent_id limit ${PAGE}`
const NIL = '00000000-0000-0000-0000-000000000000'

/**
 * Copies a workspace's objects to the bucket of the other installation as they are: under the same names, encrypted with the
 * workspace's own key. Objects never change, so those in `done` are left out. Returns the number of bytes.
 */
export const copyObjects = async (
  client: pg.Client,
  workspaceId: string,
  { from, to, done, log }: { from: Bucket; to: Bucket; done: Set<string>; log: Logger },
): Promise<number> => {
  let bytes = 0
  const copyOne = async (name: BlobName): Promise<void> => {
    const key = keyOf(name)
    if (done.has(key)) return
    const sealed = await from.get(key)
    // Its row is written before the object; or it was lost before.
    if (!sealed) return log.warn({ key }, 'object not found; left out')
    await to.put(key, sealed)
    done.add(key)
    bytes += sealed.byteLength
  }
  let after = [NIL, NIL]
  for (;;) {
    const { rows } = await client.query<BlobName>(PAGE_OF, [workspaceId, ...after])
    for (let at = 0; at < rows.length; at += PARALLEL)
      await Promise.all(rows.slice(at, at + PARALLEL).map(copyOne))
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return bytes
    after = [last.id, last.agentId]
  }
}
