import type { Db } from '../../db/client.ts'
import type { Viewer } from '../../workspace/index.ts'
import { listAddresses } from './address.ts'

/** Another agent of the workspace that admits an agent's messages. */
export interface ReachableAgent {
  id: string
  name: string
  /** Its email address; null if it does not admit the agent by email. */
  address: string | null
  /** Whether it admits the viewer at its Message URL. */
  url: boolean
}

/** Whether access `row` admits a teammate who is known by the entries `known`. */
const admits = (row: string, known: string) =>
  `(not ${row}.blocked && ${known} and (${row}.admit <> 'list' or ${row}.senders && ${known}))`

const REACHABLE = {
  name: 'reachable agents',
  text: `
    select a.id, a.name, ${admits('u', '$4::text[]')} as url,
           case when ${admits('e', '$3::text[]')} then d.value end as address
      from agent a join access e on e.agent_id = a.id and e.channel = 'email' join access u on u.agent_id = a.id and u.channel = 'url'
      left join address d on d.agent_id = a.id and d.channel = 'email' and d."primary"
     where a.workspace_id = $1 and a.id <> $2 and (${admits('u', '$4::text[]')} or d.value is not null and ${admits('e', '$3::text[]')})
     order by a.created_at, a.id limit $5`,
}

/** Returns the first agents of the workspace that admit the messages of an agent, by email or at the Message URL. */
export const reachableAgents = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  limit: number,
): Promise<ReachableAgent[]> => {
  const own = (await listAddresses(deps, viewer, agentId)).flatMap(({ channel, value }) =>
    channel === 'email' ? [value, `*${value.slice(value.lastIndexOf('@'))}`] : [],
  )
  const { rows } = await deps.pool.query<ReachableAgent>({
    ...REACHABLE,
    values: [viewer.workspaceId, agentId, own, [viewer.id], limit],
  })
  return rows
}
