import { AppError, invalidInput } from '../../core/errors.ts'
import { ensureScope, type Scope, scopesOf, sorted } from '../../core/scopes.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { rawIn } from '../../db/transaction.ts'
import type { Holder, NewToken } from './token.ts'

/** Tokens that are made with tokens: they have no more than these, and end with them. */

/** What a new token gets from the one that it is made with. */
interface Parent {
  id: string | null
  expiresAt: Date | null
  scopes: readonly Scope[] | null
}

interface ParentRow {
  id: string
  parent_id: string | null
  expires_at: Date | null
  scopes: Scope[] | null
}

const HOLD = composedOf(
  sql`select id, parent_id, expires_at, scopes from token where id = $1::uuid for key share`,
)

type Tx = Pick<Prisma.TransactionClient, '$queryRawUnsafe'>

const hold = async (tx: Tx, id: string): Promise<ParentRow> => {
  const { rows } = await rawIn(tx).query<ParentRow>({ ...HOLD, values: [id] })
  if (!rows[0]) throw new AppError('unauthorized', 'This token is not valid.')
  return rows[0]
}

/** The creator of a token. */
interface Maker {
  tokenId: string
  /** Null for a bearer token. */
  session: object | null
}

/**
 * Returns the token that the viewer makes another one with, which cannot be revoked until the transaction ends. A member's
 * session is none: what they make in the web application outlives it. If they signed in with a token, that one is it.
 * Throws `unauthorized` when it has been revoked.
 */
export const holdParent = async (tx: Tx, { tokenId, session }: Maker): Promise<Parent> => {
  const own = await hold(tx, tokenId)
  if (session === null) return { id: own.id, expiresAt: own.expires_at, scopes: own.scopes }
  if (own.parent_id === null) return { id: null, expiresAt: null, scopes: null }
  const { id, expires_at: expiresAt, scopes } = await hold(tx, own.parent_id)
  return { id, expiresAt, scopes }
}

/** The scopes of a new token. Throws `forbidden` for one that the parent does not have, `invalid_input` for a member's. */
const scopesFor = (parent: Parent, holder: Holder, asked: NewToken['scopes']): Scope[] | null => {
  const possible = scopesOf('agentId' in holder ? 'agent' : 'member')
  if (!asked) {
    if (parent.scopes === null) return null
    return parent.scopes.filter((scope) => possible.includes(scope))
  }
  const impossible = asked.find((scope) => !possible.includes(scope))
  if (impossible !== undefined) throw invalidInput('scopes', `${impossible} is only for tokens of members`)
  ensureScope(parent, asked)
  return sorted(asked)
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? new Date(Math.min(one.getTime(), other.getTime())) : (one ?? other)

/** What a new token may do, and until when: no more than what it is made with. */
export const limitsOf = (parent: Parent, holder: Holder, { scopes, expiresAt = null }: NewToken) => ({
  parentId: parent.id,
  scopes: scopesFor(parent, holder, scopes),
  expiresAt: earlier(expiresAt, parent.expiresAt),
})

const CHILDREN = composedOf(
  sql`select id from token where parent_id = any($1::uuid[]) order by id for update`,
)
const SELVES = composedOf(sql`select id from token where id = any($1::uuid[]) order by id for update`)

/**
 * Returns these tokens with all that were made with them, however indirectly, as a deletion ends all of them. They are
 * locked: a token that is being made with one of them is stored before and returned too, or finds it deleted.
 */
export const holdWithDescendants = async (tx: Tx, ids: readonly string[]): Promise<string[]> => {
  const query = async (text: typeof SELVES, values: readonly string[]) =>
    (await rawIn(tx).query<{ id: string }>({ ...text, values: [values] })).rows.map(({ id }) => id)
  const all = new Set<string>(await query(SELVES, ids))
  for (let last = [...all]; last.length > 0; ) {
    last = (await query(CHILDREN, last)).filter((id) => !all.has(id))
    for (const id of last) all.add(id)
  }
  return [...new Set([...ids, ...all])]
}
