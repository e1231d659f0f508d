import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

/**
 * The counterpart of REST, in its own process: `bare-rest.ts DATABASE_URL` sends its port. node:http with one
 * prepared statement for each request, without tokens, checks or routes:
 * `GET /page/AGENT`, `GET /same-page/AGENT` (in the same bytes as the service), `GET /message/AGENT/ID`, `POST /message/AGENT`.
 */

const COLUMNS = `id, address_id as "addressId", channel, direction, counterpart, counterpart_name as "counterpartName",
  "to", cc, subject, text, reply_text as "replyText", status, refusal, admission, error, checks, created_at as "createdAt"`

const PAGE = `select ${COLUMNS} from message where agent_id = $1 order by created_at desc, id desc limit 21`
const ONE = `select ${COLUMNS} from message where agent_id = $1 and id = $2`
/** All that the service shows of a message. */
const SAME_PAGE = `select m.id, m.address_id as "addressId", m.channel, m.direction, m.counterpart, m.counterpart_name as "counterpartName",
    m."to", m.cc, m.bcc, m.subject, m.text, m.reply_text as "replyText", m.thread_message_id as "threadMessageId",
    m.thread_references as "threadReferences", m.thread_id as "threadId", m.conversation, m.addressed, m.status, m.refusal,
    coalesce(m.instructor <= a.instructors, false) as "mayInstruct", m.admission, m.error, m.checks, m.codes, m.labels, m.read_at as "readAt",
    m.metadata, m.hold_reason as "holdReason", m.hold_until as "holdUntil", m.hold_by as "holdBy",
    m.sent_by_member_id as "sentByMemberId", m.sent_by_name as "sentByName", m.created_at as "createdAt",
    coalesce((select json_agg(json_build_object('name', f.name, 'type', f.type, 'size', f.size) order by f.index)
                from attachment f where f.message_id = m.id and f.agent_id = m.agent_id), '[]') as attachments
  from message m join agent a on a.id = m.agent_id where m.agent_id = $1 order by m.created_at desc, m.id desc limit 21`
const INSERT = 'insert into bare_message (id, agent_id, body) values ($1, $2, $3)'

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
await pool.query(
  'create table if not exists bare_message (id uuid primary key, agent_id uuid, body jsonb, created_at timestamptz default now())',
)

const query = async (name: string, text: string, values: unknown[]) =>
  (await pool.query({ name, text, values })).rows

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const answer = (response: ServerResponse, status: number, value: unknown): void => {
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
}

/** Writes a message of an email as the service does. */
// biome-ignore lint/suspicious/noExplicitAny: a row of SAME_PAGE
const toMessage = (row: any) => ({
  id: row.id,
  addressId: row.addressId,
  channel: row.channel,
  direction: row.direction,
  counterpart: row.counterpart,
  counterpartName: row.counterpartName,
  to: row.to,
  cc: row.cc,
  bcc: row.bcc,
  subject: row.subject,
  text: row.text,
  replyText: row.replyText ?? row.text,
  segments: null,
  attachments: row.attachments,
  thread: row.threadMessageId && {
    messageId: `<${row.threadMessageId}>`,
    references: row.threadReferences.map((id: string) => `<${id}>`),
  },
  threadId: row.threadId,
  conversation: row.conversation,
  addressed: row.addressed,
  status: row.status,
  refusal: row.refusal,
  mayInstruct: row.mayInstruct,
  admission: row.admission,
  error: row.error,
  checks: row.checks.map(({ name, verdict, detail }: Record<string, string>) => ({ name, verdict, detail })),
  codes: row.codes,
  labels: row.labels,
  readAt: row.readAt,
  metadata: row.metadata,
  hold: row.holdReason && { reason: row.holdReason, until: row.holdUntil, by: row.holdBy },
  sentBy: row.sentByMemberId && { kind: 'member', id: row.sentByMemberId, name: row.sentByName },
  createdAt: row.createdAt,
})

/** The rest of a list begins after its last row. */
const cursorOf = ({ createdAt, id }: { createdAt: Date; id: string }): string =>
  Buffer.from(JSON.stringify([createdAt.getTime(), id])).toString('base64url')

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [, kind, agentId, id] = request.url!.split('/')
  if (request.method === 'POST') {
    const body = JSON.parse(await readBody(request))
    const made = randomUUID()
    await query('insert', INSERT, [made, agentId, body])
    answer(response, 201, { id: made, ...body })
  } else if (kind === 'page') {
    const rows = await query('page', PAGE, [agentId])
    answer(response, 200, { items: rows.slice(0, 20), nextCursor: rows.length > 20 ? rows[19].id : null })
  } else if (kind === 'same-page') {
    const rows = await query('same page', SAME_PAGE, [agentId])
    const items = rows.slice(0, 20)
    const nextCursor = rows.length > 20 ? cursorOf(items[19]) : null
    answer(response, 200, { items: items.map(toMessage), nextCursor })
  } else {
    const [row] = await query('one', ONE, [agentId, id])
    answer(response, row ? 200 : 404, row ?? {})
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => answer(response, 500, { error: error.message }))
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
