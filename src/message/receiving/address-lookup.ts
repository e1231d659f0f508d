import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Statement } from '../../db/sql/statement.ts'

interface ChannelAddress {
  channel: string
  /** Normalized. */
  address: string
}

/**
 * $1 the addresses as JSON, whose plan is generic: with an array, PostgreSQL would plan the statement again at
 * every call.
 */
const EXISTING = {
  name: 'addresses exist',
  text: `
    select exists (select from address a where a.channel = q.channel and a.value = q.address) as found
      from json_to_recordset($1) as q(n int, channel "Channel", address text) order by q.n`,
}

/** $1 email addresses as JSON. */
const LOCAL = {
  name: 'addresses are here',
  text: `
    select exists (select from address a left join domain d on d.id = a.domain_id
                    where a.channel = 'email' and a.value = q.address and (a.domain_id is null or d.state = 'verified')) as found
      from json_to_recordset($1) as q(n int, address text) order by q.n`,
}

const MAX = 200

/** Lookups at the same time share a statement. */
const createLookup = <Address extends object>(
  { pool }: Pick<Db, 'pool'>,
  statement: Statement,
): Batch<Address, boolean> =>
  createBatch(
    async (addresses) => {
      const values = [JSON.stringify(addresses.map((each, n) => ({ n, ...each })))]
      const { rows } = await pool.query<{ found: boolean }>({ ...statement, values })
      return rows.map(({ found }) => found)
    },
    { most: MAX, parallel: 2, patienceMs: 5, isUnavailable },
  )

/** Finds whether agents have these addresses. */
export type AddressLookup = Batch<ChannelAddress, boolean>

export const createAddressLookup = (db: Pick<Db, 'pool'>): AddressLookup => createLookup(db, EXISTING)

/**
 * Finds whether email addresses certainly belong to agents of this service. The addresses of a custom domain
 * that is not currently verified do not count: someone else may own the domain.
 */
export type LocalMailboxLookup = Batch<Pick<ChannelAddress, 'address'>, boolean>

export const createLocalMailboxLookup = (db: Pick<Db, 'pool'>): LocalMailboxLookup => createLookup(db, LOCAL)
