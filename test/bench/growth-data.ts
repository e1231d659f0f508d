import { createHash } from 'node:crypto'
import pg from 'pg'

/** How much a database holds. Half of the messages are in one mailbox, the rest in those of active agents. */
export interface Size {
  messages: number
  agents: number
  /** Agents with mail; all others are idle. */
  active: number
  /** Webhooks, of idle agents. */
  webhooks: number
}

export const SIZES: Record<'small' | 'day' | 'large', Size> = {
  small: { messages: 10_000, agents: 100, active: 10, webhooks: 10 },
  day: { messages: 400_000, agents: 2_000, active: 100, webhooks: 50 },
  large: { messages: 1_000_000, agents: 100_000, active: 1_000, webhooks: 10_000 },
}

/** Words whose frequency the searches rely on. */
export const WORDS = {
  /** In every message. */
  common: 'order',
  /** In every message of the older half, in none of the newer. */
  former: 'formerly',
  /** In five messages of the mailbox. */
  rare: 'xylophone',
  /** In none. */
  absent: 'unheard',
}

/** Distinct texts; their search vectors are computed once. */
const TEXTS = 500
const VOCABULARY = 4_000
const WORDS_PER_TEXT = 30
/** Messages are spread evenly over this time, and those of the last week have events and jobs. */
const DAYS = 25

export interface Place {
  workspaceId: string
  memberId: string
  mailDomain: string
}

const AGENTS = `
  create temp table bench_agent as
    select n, uuidv7(make_interval(secs => n - 1000000)) as id, now() - make_interval(secs => 1000000 - n) as created_at
      from generate_series(1, $1::int) n`

const agentRows = (domain: string) => [
  `insert into agent (id, workspace_id, name, icon, created_by_member_id, created_at)
     select id, $1::uuid, 'Bench ' || n, 'bot', $2::uuid, created_at from bench_agent order by n`,
  `insert into event_log (agent_id) select id from bench_agent where $1::uuid is not null and $2::uuid is not null`,
  `insert into access (agent_id, channel, admit, senders)
     select a.id, c.channel, case when c.channel = 'sms' then 'team'::"Admit" else 'list' end, array['*@example.com']
       from bench_agent a, unnest(enum_range(null::"Channel")) as c(channel) where $1::uuid is not null and $2::uuid is not null`,
  `insert into given_address (value, workspace_id)
     select 'bench-' || n || '@${domain}', $1::uuid from bench_agent where $2::uuid is not null`,
  `insert into address (id, workspace_id, agent_id, channel, value, "primary", given, created_at)
     select gen_random_uuid(), $1::uuid, id, 'email', 'bench-' || n || '@${domain}', true, true, created_at from bench_agent
      where $2::uuid is not null`,
  `insert into token (id, workspace_id, agent_id, name, hash)
     select gen_random_uuid(), $1::uuid, id, 'bench', sha256(('aat_' || md5(id::text) || left(md5('' || n), 11))::bytea) from bench_agent
      where $2::uuid is not null`,
]

const TEXT = `
  create temp table bench_text as
    select t.n, t.text, to_tsvector('simple', t.text) as words from (
      select n, '${WORDS.common} ' || (select string_agg('word' || floor(${VOCABULARY} * power(random(), 3))::int, ' ')
                                from generate_series(1, ${WORDS_PER_TEXT}) w where n is not null) as text
        from generate_series(1, ${TEXTS}) n) t`

/** Even messages are those of the one mailbox, the newest first; every fourth message of an agent is sent. */
const MESSAGES = `
  create temp table bench_message as
    select s.n, uuidv7(-make_interval(secs => s.n * ${DAYS}.0 * 86400 / $1::int)) as id,
           now() - make_interval(secs => s.n * ${DAYS}.0 * 86400 / $1::int) as created_at,
           a.id as agent_id, p.place / 4 % 4 = 3 as outbound, s.n % 50 = 7 as refused, p.place,
           case when s.n > $1::int / 2 then ' ${WORDS.former}' else '' end ||
             case when s.n % ($1::int / 10) = $1::int / 20 then ' ${WORDS.rare}' else '' end as more
      from generate_series(1, $1::int) s(n)
      cross join lateral (select case when s.n % 2 = 0 then 1 else 2 + (s.n / 2) % ($2::int - 1) end as agent,
                                 case when s.n % 2 = 0 then s.n / 2 else s.n / 2 / ($2::int - 1) end as place) p
      join bench_agent a on a.n = p.agent`

const messageRows = (domain: string) => [
  `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, refusal, admission, counterpart,
                        "to", subject, text, internet_message_id, thread_references, thread_id, created_at)
     select m.id, $1::uuid, m.agent_id, gen_random_uuid(), 'email',
            case when m.outbound then 'outbound'::"Direction" else 'inbound' end,
            case when m.outbound then 'sent'::"MessageStatus" when m.refused then 'refused' else 'received' end,
            case when m.refused and not m.outbound then 'sender'::"Refusal" end,
            case when not m.refused and not m.outbound then 'listed'::"Admission" end,
            'ann' || m.n % 1000 || '@example.com', array['bench@${domain}'], 'Message ' || m.n, t.text || m.more,
            m.id || '@example.com', '{}', md5(m.agent_id::text || m.place / 4)::uuid, m.created_at
       from bench_message m join bench_text t on t.n = 1 + m.n % ${TEXTS} order by m.n desc`,
  `insert into message_search (message_id, agent_id, words)
     select m.id, m.agent_id, t.words || to_tsvector('simple', 'ann' || m.n % 1000 || '@example.com' || m.more)
              || array_to_tsvector(array['agent ' || m.agent_id])
       from bench_message m join bench_text t on t.n = 1 + m.n % ${TEXTS} where $1::uuid is not null order by m.n desc`,
  `insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject, created_at)
     select agent_id, row_number() over (partition by agent_id order by n desc), 'message.received', 'email', id, 'Bench', '{}',
            'ann@example.com', 'Message ' || n, created_at
       from bench_message where not outbound and not refused and created_at > now() - interval '6 days' and $1::uuid is not null`,
  `insert into job (id, kind, state, agent_id, lane, seq, created_at)
     select gen_random_uuid(), 'send', 'delivered', agent_id, id, 0, created_at
       from bench_message where outbound and created_at > now() - interval '6 days' and $1::uuid is not null`,
  `update event_log l set last_id = e.last_id from (select agent_id, max(id) as last_id from event group by 1) e
    where e.agent_id = l.agent_id and $1::uuid is not null`,
]

const WEBHOOKS = `
  insert into webhook (id, workspace_id, agent_id, url, secret, position)
    select gen_random_uuid(), $1::uuid, id, 'https://hooks.example.com/' || n, '\\x00', 0
      from (select * from bench_agent order by n desc limit $2::int) a`

/** What the statements of the service would have kept. */
const USAGE = [
  `insert into workspace_usage (workspace_id, minute, agents, webhooks, stored)
     select $1::uuid, 'epoch', (select count(*) from agent where workspace_id = $1::uuid),
            (select count(*) from webhook where workspace_id = $1::uuid),
            (select count(*) from message where workspace_id = $1::uuid and status <> 'refused')`,
  `insert into workspace_usage (workspace_id, minute, sent)
     select $1::uuid, date_trunc('minute', created_at), count(*) from message
      where workspace_id = $1::uuid and direction = 'outbound' and created_at > now() - interval '1 day' group by 2`,
]

/** Loads rows faster by building the indexes of these tables, except the unique ones, afterwards. */
const withoutIndexes = async (client: pg.ClientBase, tables: string[], load: () => Promise<void>) => {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = any($1::regclass[]) and not i.indisunique`,
    [tables],
  )
  for (const { name } of rows) await client.query(`drop index "${name}"`)
  await load()
  for (const { definition } of rows) await client.query(definition)
}

/** The token of the seeded agent with this id and number (SQL and JavaScript compute the same). */
export const tokenOf = (id: string, n: number): string =>
  `aat_${createHash('md5').update(id).digest('hex')}${createHash('md5').update(String(n)).digest('hex').slice(0, 11)}`

/** Inserts idle agents, each with an address, a token and access rules; `bench_agent (n, id)` names them. */
export const fillAgents = async (
  client: pg.ClientBase,
  agents: number,
  { workspaceId, memberId, mailDomain }: Place,
): Promise<void> => {
  await client.query(
    'set statement_timeout = 0; set synchronous_commit = off; set maintenance_work_mem = 1000000',
  )
  await client.query(AGENTS, [agents])
  for (const text of agentRows(mailDomain)) await client.query(text, [workspaceId, memberId])
}

/**
 * Fills a workspace's database by SQL, in a few minutes for the large size. Returns the id of the agent with
 * the large mailbox.
 */
export const fill = async (
  url: string,
  { messages, agents, active, webhooks }: Size,
  place: Place,
): Promise<string> => {
  const { workspaceId, mailDomain } = place
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await fillAgents(client, agents, place)
    await client.query(TEXT)
    await client.query(MESSAGES, [messages, active])
    await withoutIndexes(client, ['message', 'message_search', 'event', 'job'], async () => {
      for (const text of messageRows(mailDomain)) await client.query(text, [workspaceId])
    })
    await client.query(WEBHOOKS, [workspaceId, webhooks])
    for (const text of USAGE) await client.query(text, [workspaceId])
    await client.query('vacuum analyze')
    const { rows } = await client.query<{ id: string }>('select id from bench_agent where n = 1')
    return rows[0]!.id
  } finally {
    await client.end()
  }
}
