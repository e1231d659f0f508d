import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { silentLogger } from '../../src/core/logger.ts'
import { openDb } from '../../src/db/client.ts'
import { newSecret } from '../../src/webhook/post/sign.ts'
import { sealSecret } from '../../src/webhook/secret.ts'
import { createKeyring } from '../../src/workspace/encryption/keyring.ts'
import { fillAgents, tokenOf } from './growth-data.ts'
import type { Bench } from './machinery.ts'
import type { StreamAgent } from './stream-agents.ts'

/** How many processes of each role there are, and what they serve. */
export interface Fleet {
  api: number
  smtp: number
  worker: number
  agents: number
  /** The first agents have a webhook, a stream or both. */
  webhooks: number
  streams: number
}

/** What was stored: agents in the order of their numbers. */
export interface FleetData {
  agentIds: string[]
  addressOf(index: number): string
  /** The secrets of the webhooks, by their paths at the receiver. */
  secrets: Record<string, string>
  listeners: StreamAgent[]
}

const MAIL_DOMAIN = 'agents.localhost'

const WEBHOOKS = `
  insert into webhook (id, workspace_id, agent_id, url, secret, position)
    select id, $1::uuid, agent_id, url, secret, 0
      from unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[]) as w(id, agent_id, url, secret)`

const CONNECTIONS = `
  insert into connection (id, agent_id, token_id, client, machine, start_after)
    select c.id, c.agent_id, t.id, 'bench', 'bench', 0
      from unnest($1::uuid[], $2::uuid[]) as c(id, agent_id) join token t using (agent_id)`

/** Seals as many secrets as there are webhooks, as the service does. */
const sealAll = async ({ postgres, masterKey }: Bench, workspaceId: string, ids: readonly string[]) => {
  const db = await openDb(postgres.url, { max: 1, log: silentLogger })
  const keyring = createKeyring(db, masterKey)
  const secrets = ids.map(() => newSecret())
  const sealed: Buffer[] = []
  for (const [n, id] of ids.entries()) sealed.push(await sealSecret(keyring, workspaceId, id, secrets[n]!))
  await db.close()
  return { secrets, sealed }
}

/** Stores the agents of a fleet, their webhooks at `receiver` and the clients of their streams. */
export const fillFleet = async (bench: Bench, fleet: Fleet, receiver: string): Promise<FleetData> => {
  const client = new pg.Client({ connectionString: bench.postgres.url })
  await client.connect()
  const [workspace] = (await client.query('select id from workspace')).rows
  const [member] = (await client.query('select id from member')).rows
  const place = { workspaceId: workspace.id, memberId: member.id, mailDomain: MAIL_DOMAIN }
  await fillAgents(client, fleet.agents, place)
  const { rows } = await client.query<{ id: string }>('select id from bench_agent order by n')
  const agentIds = rows.map(({ id }) => id)
  const hooked = agentIds.slice(0, fleet.webhooks)
  const ids = hooked.map(() => randomUUID())
  const { secrets, sealed } = await sealAll(bench, workspace.id, ids)
  const urls = hooked.map((id) => `${receiver}/${id}`)
  await client.query(WEBHOOKS, [workspace.id, ids, hooked, urls, sealed])
  const listening = agentIds.slice(0, fleet.streams)
  const connectionIds = listening.map(() => randomUUID())
  await client.query(CONNECTIONS, [connectionIds, listening])
  await client.query('vacuum analyze')
  await client.end()
  return {
    agentIds,
    addressOf: (index) => `bench-${index + 1}@${MAIL_DOMAIN}`,
    secrets: Object.fromEntries(hooked.map((id, n) => [`/${id}`, secrets[n]!])),
    listeners: listening.map((id, n) => ({
      id,
      token: tokenOf(id, n + 1),
      connectionId: connectionIds[n]!,
    })),
  }
}
