import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'

interface ChannelAddress {
  channel: string
  /** Normalized. */
  address: string
}

/**
 * $1 the addresses as JSON, whose plan is generic: with an array, PostgreSQL would plan the statement anew at
 * every call.
 */
const EXISTING = {
  name: 'addresses exist',
  text: `
    select exists (select from address a where a.channel = q.channel and a.value = q.address) as found
      from json_to_recordset($1) as q(n int, channel "Channel", address text) order by q.n`,
}

const MAX = 200

/** Finds whether agents have these addresses. Lookups at the same time share a statement. */
export type AddressLookup = Batch<ChannelAddress, boolean>

export const createAddressLookup = ({ pool }: Pick<Db, 'pool'>): AddressLookup =>
  createBatch(
    async (addresses) => {
      const { rows } = await pool.query<{ found: boolean }>({
        ...EXISTING,
        values: [JSON.stringify(addresses.map((each, n) => ({ n, ...each })))],
      })
      return rows.map(({ found }) => found)
    },
    { most: MAX, parallel: 2, patienceMs: 5, isUnavailable },
  )

/**
 * Returns whether the email address certainly belongs to an agent of this service. The addresses of a custom
 * domain that is not currently verified do not count: someone else may own the domain.
 */
export const isLocalMailbox = async ({ pool }: Pick<Db, 'pool'>, address: string): Promise<boolean> => {
  const { rows } = await pool.query({
    name: 'address is here',
    text: `select from address a left join domain d on d.id = a.domain_id
            where a.channel = 'email' and a.value = $1 and (a.domain_id is null or d.state = 'verified')`,
    values: [address],
  })
  return rows.length > 0
}
