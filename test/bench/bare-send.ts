import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import pg from 'pg'

/**
 * The counterpart of sends that are counted until they are delivered, in its own process: `bare-send.ts DATABASE_URL`
 * sends its port. `POST /message/AGENT` inserts the message, lets nodemailer compose and sign it (DKIM, RSA with 2,048
 * bits) and writes the mail to a file that is on disk before the response. No tokens, checks, status, queue or retries.
 */

const INSERT = 'insert into bare_send (id, agent_id, body) values ($1, $2, $3)'
const DOMAIN = 'example.org'

const outbox = mkdtempSync(join(tmpdir(), 'bare-send-'))
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const transport = createTransport({
  ...{ streamTransport: true, buffer: true, newline: 'windows' },
  dkim: { domainName: DOMAIN, keySelector: 'bench', privateKey },
})
const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
await pool.query(
  'create table if not exists bare_send (id uuid primary key, agent_id uuid, body jsonb, created_at timestamptz default now())',
)

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const send = async (request: IncomingMessage): Promise<object> => {
  const agentId = request.url!.split('/')[2]!
  const body = JSON.parse(await readBody(request))
  const id = randomUUID()
  await pool.query({ name: 'insert', text: INSERT, values: [id, agentId, body] })
  const { message } = await transport.sendMail({
    from: `Bench <${agentId}@${DOMAIN}>`,
    ...{ to: body.to, subject: body.subject, text: body.text },
    messageId: `<${id}@${DOMAIN}>`,
  })
  await writeFile(join(outbox, `${id}.eml`), message as Buffer, { flag: 'wx', mode: 0o600, flush: true })
  return { id, ...body }
}

const server = createServer(async (request, response) => {
  const [status, value] = await send(request).then(
    (sent) => [201, sent] as const,
    (error) => [500, { error: error.message }] as const,
  )
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
process.on('exit', () => rmSync(outbox, { recursive: true, force: true }))
process.on('SIGTERM', () => process.exit())
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
