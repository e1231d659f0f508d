import { compareRequests, type HttpTarget } from './http-load.ts'
import { type Bench, startBench, startPart } from './machinery.ts'
import { atLeast, type Goal, type Suite } from './row.ts'

/** Messages of the agent whose pages are read. */
const MESSAGES = 200

/** A page of an agent's inbox, as a dashboard requests it. */
const INBOX = `query ($id: UUID!) { agent(id: $id) { id name messages(first: 20) {
  edges { cursor node { id channel direction counterpart counterpartName subject text status createdAt attachments { name type size } } }
  pageInfo { hasNextPage endCursor } } } }`

/** What a mail whose sender is proven has in its `checks`. */
const CHECKS = [
  { name: 'spf', verdict: 'pass', detail: 'example.com designates 192.0.2.1' },
  { name: 'dkim', verdict: 'pass', detail: 'example.com, selector s1' },
  { name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' },
  { name: 'access', verdict: 'pass', detail: 'ann@example.com is on the list' },
]

/** Stores messages as if they had been received, and returns the id of one of them. */
const fill = async ({ postgres }: Bench, agentId: string): Promise<string> => {
  const { rows } = await postgres.pool.query(
    `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, admission, counterpart, counterpart_name,
                          "to", cc, subject, text, thread_id, thread_message_id, thread_references, checks, created_at)
     select m.id, a.workspace_id, a.id, gen_random_uuid(), 'email', 'inbound', 'received', 'listed', 'ann@example.com', 'Ann Example',
            '{bot@example.com}', '{}', 'Where is my order?', repeat('It has not arrived yet. ', 20), m.id,
            'order-' || n || '@example.com', '{}', $2, now() - make_interval(secs => n)
       from agent a, (select gen_random_uuid() as id, n from generate_series(1, ${MESSAGES}) n) m where a.id = $1
     returning id`,
    [agentId, JSON.stringify(CHECKS)],
  )
  await postgres.pool.query('vacuum analyze message')
  return rows[0].id
}

/** Throws unless both answer with the same bytes. */
const ensureSame = async (...sides: HttpTarget[]): Promise<void> => {
  const answers = sides.map(async ({ origin, requests: [request] }) => {
    const { path, headers } = request!
    return (await fetch(origin + path, { headers })).text()
  })
  const [one, ...others] = await Promise.all(answers)
  if (others.some((other) => other !== one)) throw new Error('the counterpart answers something else')
}

/** Pages and messages a second, and how long they take, against servers that only select the same rows. */
export const benchPages: Suite = async (report) => {
  const bench = await startBench()
  const { postgres, api } = bench
  const agentId: string = (await api('POST', '/agents', { name: 'Bench', icon: 'bot' })).body.id
  const messageId = await fill(bench, agentId)
  const client = await startPart('http-client.ts')
  const authorization = `Bearer ${bench.token}`
  type Requests = HttpTarget['requests']
  const ours = (requests: Requests): HttpTarget => ({
    ...{ origin: bench.http, requests },
    ...{ node: bench.pid, postgres: postgres.pid },
  })
  const startCounterpart = async (file: string, ...args: string[]) => {
    const part = await startPart<number>(file, ...args, postgres.url)
    const origin = `http://127.0.0.1:${part.ready}`
    return (requests: Requests): HttpTarget => ({
      ...{ origin, requests },
      ...{ node: part.child.pid!, postgres: postgres.pid },
    })
  }
  const get = (path: string, headers: Record<string, string> = {}): Requests => [
    { method: 'GET', path, headers },
  ]
  const compare = async (
    about: { name: string; against: string; goal?: Goal },
    sides: { ours: HttpTarget; theirs: HttpTarget },
  ) => {
    for (const row of await compareRequests(client.child, about, sides)) report(row)
  }
  const bare = await startCounterpart('bare-rest.ts')
  const list = `/agents/${agentId}/messages`
  const name = 'GET list of 20 messages'
  const listing = ours(get(`${list}?limit=20`, { authorization }))
  await compare(
    { name, against: 'node:http and pg, one select of fewer columns', goal: atLeast(0.6) },
    { ours: listing, theirs: bare(get(`/page/${agentId}`)) },
  )
  const same = bare(get(`/same-page/${agentId}`))
  await ensureSame(listing, same)
  await compare(
    { name, against: 'node:http and pg, the same bytes', goal: atLeast(1) },
    { ours: listing, theirs: same },
  )
  await compare(
    { name: 'GET one message', against: 'node:http and pg, one select' },
    {
      ours: ours(get(`${list}/${messageId}`, { authorization })),
      theirs: bare(get(`/message/${agentId}/${messageId}`)),
    },
  )
  const body = JSON.stringify({ query: INBOX, variables: { id: agentId } })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const query = (more: Record<string, string>): Requests => [
    { method: 'POST', path: '/graphql', headers: { ...headers, ...more }, body },
  ]
  const peers = [
    { kind: 'mercurius', against: 'Mercurius (JIT), Fastify and pg', goal: atLeast(0.6) },
    { kind: 'yoga', against: 'Yoga and pg', goal: atLeast(1.5) },
  ]
  for (const { kind, ...about } of peers) {
    const peer = await startCounterpart('bare-graphql.ts', kind)
    await compare(
      { name: 'GraphQL inbox page', ...about },
      { ours: ours(query({ authorization })), theirs: peer(query({})) },
    )
  }
}
