import type { FindAnswer, KeyKind } from '../core/cell.ts'
import type { Db } from '../db/client.ts'
import { isMoving } from '../workspace/index.ts'

export interface FindDeps extends Pick<Db, 'pool'> {
  mailDomain: string
  /** Finds the workspace of an event stream that this process has reserved, by the SHA-256 of its token, in hex. */
  workspaceOfStream(hash: string): string | undefined
}

/** The values of each kind that are asked for. */
export type Asked = Record<KeyKind, readonly string[]>

const hex = (column: string) => `'token:' || encode(${column}, 'hex')`
const TOKENS = '$1::bytea[]'
const IDS = '$2::uuid[]'

/** One statement for all kinds: a kind that is not asked for is an empty array, which reads no index. */
const FIND = {
  name: 'find keys for a front',
  text: `
    select found.*, ${isMoving('found.workspace_id')} as moving from (
    select ${hex('hash')} as key, workspace_id from token where hash = any(${TOKENS})
    union all select ${hex('r.hash')}, t.workspace_id from oauth_record r left join token t on t.id = r.app_id where r.hash = any(${TOKENS})
    union all select ${hex('l.hash')}, m.workspace_id from sign_in_link l join member m on m.id = l.member_id where l.hash = any(${TOKENS})
    union all select ${hex('token_hash')}, workspace_id from invitation where token_hash = any(${TOKENS})
    union all select ${hex('l.token_hash')}, a.workspace_id from setup_link l join agent a on a.id = l.agent_id where l.token_hash = any(${TOKENS})
    union all select 'id:' || id, id from workspace where id = any(${IDS})
    union all select 'id:' || id, workspace_id from member where id = any(${IDS})
    union all select 'id:' || id, workspace_id from agent where id = any(${IDS})
    union all select 'id:' || id, workspace_id from address where id = any(${IDS})
    union all select 'id:' || id, workspace_id from message where id = any(${IDS})
    union all select 'passkey:' || translate(rtrim(encode(p.credential_id, 'base64'), '='), E'+/\\n', '-_'), m.workspace_id
                from passkey p join member m on m.id = p.member_id where p.credential_id = any($3::bytea[])
    union all select 'member:' || email, workspace_id from member where email = any($4::text[])
    union all select 'address:' || value, workspace_id from address where channel = 'email' and value = any($5::text[])
    union all select 'domain:' || name, workspace_id from domain where name = any($6::text[]) and state = 'verified'
    union all select 'number:' || value, workspace_id from phone_number where value = any($7::text[])) found`,
}

interface Row {
  key: string
  workspace_id: string
  moving: boolean
}

/** Returns which of these this installation has. Expired tokens count, so that the installation itself refuses them. */
export const find = async (
  { pool, mailDomain, workspaceOfStream }: FindDeps,
  asked: Asked,
): Promise<FindAnswer> => {
  const { token, id, passkey, member, address, domain, number } = asked
  const values = [
    token.map((hash) => Buffer.from(hash, 'hex')),
    id,
    passkey.map((credential) => Buffer.from(credential, 'base64url')),
    ...[member, address, domain, number],
  ]
  const { rows } = await pool.query<Row>({ ...FIND, values })
  const found: FindAnswer['found'] = Object.fromEntries(
    rows.map(({ key, workspace_id }) => [key, workspace_id]),
  )
  for (const hash of token) {
    const workspaceId = workspaceOfStream(hash)
    if (workspaceId !== undefined) found[`token:${hash}`] = workspaceId
  }
  if (domain.includes(mailDomain)) found[`domain:${mailDomain}`] = null
  const moving = rows.filter(({ moving }) => moving).map(({ key }) => key)
  return moving.length > 0 ? { found, moving } : { found }
}
