import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'

/**
 * The counterpart of reception, in its own process: `bare-smtp.ts DATABASE_URL` sends its port. smtp-server with
 * one prepared insert for each mail, which it neither parses nor checks.
 */

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
await pool.query(
  'create table if not exists bare_mail (id uuid primary key, sender text, recipient text, raw bytea)',
)

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
      pool
        .query({
          name: 'insert',
          text: 'insert into bare_mail (id, sender, recipient, raw) values ($1, $2, $3, $4)',
          values: [randomUUID(), sender, envelope.rcptTo[0]!.address, Buffer.concat(chunks)],
        })
        .then(() => done(), done)
    })
  },
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.server.address() as AddressInfo).port))
