import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

/**
 * The counterpart of REST, in its own process: `bare-rest.ts DATABASE_URL` sends its port. node:http with one
 * prepared statement for each request, without tokens, checks or routes:
 * `GET /page/AGENT`, `GET /message/AGENT/ID`, `POST /message/AGENT`.
 */

const COLUMNS = `id, address_id as "addressId", channel, direction, counterpart, counterpart_name as "counterpartName",
  "to", cc, subject, text, reply_text as "replyText", status, refusal, admission, error, checks, created_at as "createdAt"`

const PAGE = `select ${COLUMNS} from message where agent_id = $1 order by created_at desc, id desc limit 21`
const ONE = `select ${COLUMNS} from message where agent_id = $1 and id = $2`
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
