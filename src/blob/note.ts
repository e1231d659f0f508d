import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { type Batch, createBatch } from '../db/batch.ts'
import { type Db, isUnavailable } from '../db/client.ts'
import type { BlobName } from './key.ts'

/** A content that is to be stored. */
export type Noted = Omit<BlobName, 'id'> & { size: number }

/**
 * How long after it was noted an object is looked at for whether a message has it: far longer than a write takes.
 * A write that takes longer yet fails, because its row refers to the object (a foreign key).
 */
export const IN_FLIGHT_MS = 3_600_000

/** In the order of the index, so that two batches cannot deadlock. The same content keeps its object. */
const NOTE = {
  name: 'note blobs',
  text: `
    insert into blob (id, agent_id, workspace_id, hash, size, check_at)
    select *, $6::timestamptz from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bytea[], $5::int[])
    on conflict (agent_id, hash) do update set check_at = excluded.check_at
    returning id, agent_id, hash`,
}

const identityOf = (agentId: string, hash: Uint8Array): string => agentId + Buffer.from(hash).toString('hex')

const note = async ({ pool, clock }: Db & { clock: Clock }, blobs: readonly Noted[]): Promise<string[]> => {
  const distinct = new Map(blobs.map((blob) => [identityOf(blob.agentId, blob.hash), blob]))
  const sorted = [...distinct].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, blob]) => blob)
  const { rows } = await pool.query<{ id: string; agent_id: string; hash: Buffer }>({
    ...NOTE,
    values: [
      sorted.map(() => newId()),
      sorted.map(({ agentId }) => agentId),
      sorted.map(({ workspaceId }) => workspaceId),
      sorted.map(({ hash }) => Buffer.from(hash)),
      sorted.map(({ size }) => size),
      new Date(clock.now().getTime() + IN_FLIGHT_MS),
    ],
  })
  const ids = new Map(rows.map(({ id, agent_id, hash }) => [identityOf(agent_id, hash), id]))
  return blobs.map(({ agentId, hash }) => ids.get(identityOf(agentId, hash))!)
}

/**
 * Notes objects before they are written, and returns their ids: whatever is in the store is known here, even if the
 * process is killed right after it has written it.
 */
export type Notes = Batch<Noted, string>

export const createNotes = (deps: Db & { clock: Clock }): Notes =>
  createBatch((blobs) => note(deps, blobs), { most: 100, parallel: 2, patienceMs: 5, isUnavailable })
