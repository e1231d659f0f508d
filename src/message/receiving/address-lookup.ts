import { domainOf, withoutTag } from '../../core/address/email-address.ts'
import { CHANNELS, type ChannelKind } from '../../core/channels.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Statement } from '../../db/sql/statement.ts'
import { isMoving, movingError } from '../../workspace/index.ts'

interface ChannelAddress {
  channel: ChannelKind
  /** Normalized. */
  address: string
}

/** SQL: whether a workspace is in another installation now. */
const hasMoved = (workspaceId: string): string =>
  `exists (select from workspace_move m where m.workspace_id = ${workspaceId} and m.moved_at is not null)`

/**
 * The domain `d` of an address `q` that no agent has, with an agent that catches all such mail. An address with a tag is that of
 * the agent that has the address without it. Mail to members of any workspace, and to those whom the domain's own has invited, is not the
 * agent's: it signs them in. A domain that broke keeps its agents' mail until another workspace proves that it owns the domain.
 */
const CATCHING = `d.name = q.domain and d.catch_all_agent_id is not null and d.state <> 'pending'
      and not exists (select from address a where a.channel = 'email' and a.value in (q.address, q.untagged))
      and not exists (select from member p where p.email in (q.address, q.untagged))
      and not exists (select from invitation i where i.workspace_id = d.workspace_id and i.email in (q.address, q.untagged) and i.accepted_at is null)`

/** What of an email address decides whether a catch-all agent has it; nothing of others. */
const partsOf = ({ channel, address }: ChannelAddress) =>
  CHANNELS[channel].mail ? { domain: domainOf(address), untagged: withoutTag(address) } : {}

/**
 * $1 the addresses as JSON, whose plan is generic: with an array, PostgreSQL would plan the statement again at
 * every call.
 */
const EXISTING = {
  name: 'addresses exist',
  text: `
    select case when exists (select from workspace_move)
                 and (exists (select from address a where a.channel = q.channel and a.value = q.address and ${isMoving('a.workspace_id')})
                   or exists (select from domain d where ${CATCHING} and ${isMoving('d.workspace_id')})) then null
           else exists (select from address a where a.channel = q.channel and a.value = q.address)
             or (q.domain is not null and exists (select from domain d where ${CATCHING})) end as found
      from json_to_recordset($1) as q(n int, channel "Channel", address text, domain text, untagged text) order by q.n`,
}

/**
 * The catch-all agent's own address: that on the domain, if it has one. Mail that is sent from here goes to a domain that broke as to
 * any other outside: someone else may own it.
 */
const CAUGHT = {
  name: 'addresses of catch-all agents',
  text: `
    select (select t.value from domain d join address t on t.agent_id = d.catch_all_agent_id and t.channel = 'email'
             where ${CATCHING} and (d.state = 'verified' or not q.certainly) and not (q.certainly and ${hasMoved('d.workspace_id')})
             order by d.state = 'verified' desc, t.domain_id is not distinct from d.id desc, t."primary" desc, t.created_at limit 1) as found
      from json_to_recordset($1) as q(n int, address text, certainly boolean, domain text, untagged text) order by q.n`,
}

/** $1 email addresses as JSON. */
const LOCAL = {
  name: 'addresses are here',
  text: `
    select exists (select from address a left join domain d on d.id = a.domain_id
                    where a.channel = 'email' and a.value = q.address and (a.domain_id is null or d.state = 'verified')
                      and not ${hasMoved('a.workspace_id')}) as found
      from json_to_recordset($1) as q(n int, address text) order by q.n`,
}

const MAX = 200

/** Lookups at the same time share a statement. */
const createLookup = <Address extends object, Found = boolean>(
  { pool }: Pick<Db, 'pool'>,
  statement: Statement,
  partsOf: (address: Address) => object = (address) => address,
): Batch<Address, Found> =>
  createBatch(
    async (addresses) => {
      const values = [JSON.stringify(addresses.map((each, n) => ({ n, ...partsOf(each) })))]
      const { rows } = await pool.query<{ found: Found }>({ ...statement, values })
      return rows.map(({ found }) => found)
    },
    { most: MAX, parallel: 2, patienceMs: 5, isUnavailable },
  )

/**
 * Finds whether agents have these addresses, or get the mail to them because nobody has. Throws `unavailable` for one whose
 * workspace is moving to another installation.
 */
export type AddressLookup = Pick<Batch<ChannelAddress, boolean>, 'add'>

export const createAddressLookup = (db: Pick<Db, 'pool'>): AddressLookup => {
  const lookup = createLookup<ChannelAddress, boolean | null>(db, EXISTING, (one) => ({
    ...one,
    ...partsOf(one),
  }))
  return {
    add: async (one) => {
      const found = await lookup.add(one)
      if (found === null) throw movingError()
      return found
    },
  }
}

/** An email address. `certainly`: only of a domain that is verified now. */
interface CaughtAddress {
  address: string
  certainly: boolean
}

/** Finds the addresses of the agents that get mail to these email addresses because nobody has them; null for all others. */
export type CatchAllLookup = Batch<CaughtAddress, string | null>

export const createCatchAllLookup = (db: Pick<Db, 'pool'>): CatchAllLookup =>
  createLookup(db, CAUGHT, (one) => ({ ...one, ...partsOf({ channel: 'email', address: one.address }) }))

/**
 * Finds whether email addresses certainly belong to agents of this service. The addresses of a custom domain
 * that is not currently verified do not count: someone else may own the domain.
 */
export type LocalMailboxLookup = Batch<Pick<ChannelAddress, 'address'>, boolean>

export const createLocalMailboxLookup = (db: Pick<Db, 'pool'>): LocalMailboxLookup => createLookup(db, LOCAL)
