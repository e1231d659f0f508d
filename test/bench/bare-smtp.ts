import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { createPoster } from './bare-post.ts'
import { eventOf } from './committer.ts'
import type { MailEndpoint } from './mail-way.ts'

/**
 * The counterpart of reception, in its own process: `bare-smtp.ts DATABASE_URL` sends its port. smtp-server with
 * one prepared insert for each mail, which it neither parses nor checks. `{endpoints}` is answered with `'known'`;
 * then it also posts an event to the recipient's endpoint after the insert.
 */

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
await pool.query(
  'create table if not exists bare_mail (id uuid primary key, sender text, recipient text, raw bytea)',
)

const insert = (sender: string, recipient: string, raw: Buffer) =>
  pool.query({
    name: 'insert',
    text: 'insert into bare_mail (id, sender, recipient, raw) values ($1, $2, $3, $4)',
    values: [randomUUID(), sender, recipient, raw],
  })

const posters = new Map<string, () => void>()

/** Returns a function that posts the next event. */
const posterOf = ({ agentId, url, secret }: MailEndpoint) => {
  const post = createPoster({ url, secret })
  let last = 0
  return () =>
    post(eventOf({ agent_id: agentId, id: ++last, message_id: randomUUID(), created_at: new Date() }))
}

process.on('message', ({ endpoints }: { endpoints: MailEndpoint[] }) => {
  for (const endpoint of endpoints) posters.set(endpoint.address, posterOf(endpoint))
  process.send?.('known')
})

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = []
    const recipient = envelope.rcptTo[0]!.address
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      insert(envelope.mailFrom ? envelope.mailFrom.address : '', recipient, Buffer.concat(chunks))
        .then(() => done())
        .then(() => posters.get(recipient)?.(), done)
    })
  },
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.server.address() as AddressInfo).port))
