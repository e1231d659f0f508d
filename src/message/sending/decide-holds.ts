import type { Statements } from '../../db/client.ts'
import type { Approval } from '../../db/generated/prisma/enums.ts'
import { sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { type NewHold, newHoldOf } from '../approval/hold.ts'
import { RECIPIENT_FACTS, type RecipientFacts } from '../approval/recipient-facts.ts'
import type { Guarded } from './guard.ts'
import type { Outgoing } from './outgoing.ts'
import { PLACE } from './place.ts'

/** An outgoing message that was compared with its agent's secrets. */
export interface Compared extends Outgoing {
  guarded: Guarded
}

/** An outgoing message with what it waits for, and the setting of its agent on which that rests. */
export interface Decided extends Compared {
  approval: Approval
  hold: NewHold
}

interface Asked {
  /** The columns of the messages that are needed, as JSON. */
  messages: string
  /** For each recipient, the message; and the address. */
  recipients: readonly string[]
  addresses: readonly string[]
}

/**
 * A row for each recipient of the messages of agents to whom it matters who is a stranger, and one for each message of
 * the others: for those nothing is looked up. Messages whose agent is not in their workspace or has no address on their
 * channel have none. The parameters stand in subqueries: see docs/decisions.md#kept-plans.
 */
const FACTS = statement<Asked>('facts of outgoing messages', (given) => {
  const drafts = sql`json_populate_recordset(null::message, (select ${given.messages}::json)) m`
  const recipients = sql`unnest((select ${given.recipients}::uuid[]), (select ${given.addresses}::text[])) as r(id, address)`
  return sql`
    select m.id, g.approval, g.guard_version as "guardVersion", r.address, ${RECIPIENT_FACTS}
      from ${drafts} join agent g on g.id = m.agent_id cross join lateral (${PLACE}) place
           left join ${recipients} on r.id = m.id and g.approval = 'strangers'`
})

type FactsRow = RecipientFacts & {
  id: string
  approval: Approval
  guardVersion: number
  address: string | null
}

const readFacts = async (
  { pool }: Statements,
  outgoing: readonly Outgoing[],
): Promise<Map<string, FactsRow[]>> => {
  const to = outgoing.flatMap(({ message: { id }, recipients }) =>
    recipients.map((address) => ({ id, address })),
  )
  const asked: Asked = {
    messages: JSON.stringify(
      outgoing.map(({ message: { id, agentId, workspaceId, addressId, channel } }) => ({
        ...{ id, channel },
        agent_id: agentId,
        workspace_id: workspaceId,
        address_id: addressId,
      })),
    ),
    recipients: to.map(({ id }) => id),
    addresses: to.map(({ address }) => address),
  }
  const found = new Map<string, FactsRow[]>()
  for (const row of (await pool.query<FactsRow>(FACTS(asked))).rows)
    found.set(row.id, [...(found.get(row.id) ?? []), row])
  return found
}

const holdOf = (
  { message, guarded }: Compared,
  approval: Approval,
  recipients: readonly RecipientFacts[],
): NewHold => newHoldOf(approval, recipients, { ...message, held: guarded.held !== null })

/** Returns messages with what they wait for while their agents' messages need no approval: for that nothing is read. */
export const withoutApproval = (outgoing: readonly Compared[]): Decided[] =>
  outgoing.map((each) => ({ ...each, approval: 'none', hold: holdOf(each, 'none', []) }))

/** What is decided about messages by one statement for all of them. */
export interface Decisions {
  /** Without those whose agent is not in their workspace or has no address on their channel. */
  decided: Decided[]
  /** Ids of those that must be compared with their agent's secrets again: they have changed since. */
  outdated: Set<string>
}

/** Returns messages with what they wait for. */
export const decideHolds = async (db: Statements, outgoing: readonly Compared[]): Promise<Decisions> => {
  const facts = await readFacts(db, outgoing)
  const known = outgoing.flatMap((each) => {
    const rows = facts.get(each.message.id)
    return rows ? [{ each, rows, isOutdated: rows[0]!.guardVersion !== each.guarded.guardVersion }] : []
  })
  return {
    outdated: new Set(known.flatMap(({ each, isOutdated }) => (isOutdated ? [each.message.id] : []))),
    decided: known.flatMap(({ each, rows, isOutdated }) => {
      if (isOutdated) return []
      const { approval } = rows[0]!
      const recipients = rows.filter(({ address }) => address !== null)
      return [{ ...each, approval, hold: holdOf(each, approval, recipients) }]
    }),
  }
}
