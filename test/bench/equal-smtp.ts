import { createHash, randomUUID } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import type { AddressInfo } from 'node:net'
import { authenticate } from 'mailauth'
import pg from 'pg'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/**
 * The counterpart of reception that does the same work, as one would put it together from packages in one thread, in its
 * own process: `equal-smtp.ts DATABASE_URL DNS` sends its port. smtp-server; postal-mime reads the mail, mailauth checks SPF,
 * DKIM, ARC and DMARC; one prepared statement stores the message, its words for the search, its raw form, its files and
 * its event, with indexes for lists, threads, copies and the search.
 */

const [url, dns] = process.argv.slice(2) as [string, string]
const pool = new pg.Pool({ connectionString: url, max: 10 })
await pool.query(`
  create table if not exists equal_mail (
    id uuid primary key, agent_id uuid, sender text, name text, "to" text[], subject text, body text, proven boolean, checks jsonb,
    message_id text, refs text[], thread_id uuid, fingerprint bytea, words tsvector, created_at timestamptz default now());
  create index if not exists equal_list on equal_mail (agent_id, created_at desc, id desc);
  create index if not exists equal_id on equal_mail (agent_id, message_id);
  create index if not exists equal_thread on equal_mail (agent_id, thread_id, created_at);
  create unique index if not exists equal_copy on equal_mail (agent_id, fingerprint);
  create index if not exists equal_words on equal_mail using gin (words);
  create table if not exists equal_raw (mail_id uuid primary key, content bytea);
  create table if not exists equal_file (mail_id uuid, index int, name text, type text, content bytea, primary key (mail_id, index));
  create table if not exists equal_log (agent_id uuid primary key, last_id bigint);
  create table if not exists equal_event (agent_id uuid, id bigint, mail_id uuid, sender text, subject text, primary key (agent_id, id))`)

const STORE = `
  with target as (select agent_id from address where channel = 'email' and value = $2),
  m as (
    insert into equal_mail (id, agent_id, sender, name, "to", subject, body, proven, checks, message_id, refs, thread_id, fingerprint, words)
    select $1::uuid, t.agent_id, $3::text, $4, $5, $6::text, $7::text, $8, $9, $10, $11,
           coalesce((select a.thread_id from equal_mail a where a.agent_id = t.agent_id and a.message_id = any($11) limit 1), $1),
           $12, to_tsvector('simple', concat_ws(' ', $6, $3, $7)) from target t
    on conflict do nothing returning id, agent_id, sender, subject),
  r as (insert into equal_raw select id, $13::bytea from m),
  f as (insert into equal_file select m.id, f.n, f.name, f.type, f.content from m, unnest($14::text[], $15::text[], $16::bytea[]) with ordinality f(name, type, content, n)),
  l as (insert into equal_log select agent_id, 1 from m on conflict (agent_id) do update set last_id = equal_log.last_id + 1 returning *)
  insert into equal_event select m.agent_id, l.last_id, m.id, m.sender, m.subject from m join l using (agent_id)`

const resolver = new Resolver()
resolver.setServers([dns])
const CACHED_MS = 60_000
const known = new Map<string, { answer: Promise<unknown>; until: number }>()

/** Looks up a name; answers are kept for a minute. */
const lookUp = (name: string, type: string): Promise<unknown> => {
  const key = `${type} ${name}`
  const found = known.get(key)
  if (found && found.until > Date.now()) return found.answer
  const answer = resolver.resolve(name, type)
  known.set(key, { answer, until: Date.now() + CACHED_MS })
  return answer
}

const receive = async (raw: Buffer, { envelope, remoteAddress, hostNameAppearsAs }: SMTPServerSession) => {
  const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
  const [mail, checks] = await Promise.all([
    PostalMime.parse(raw),
    authenticate(raw, {
      ...{ ip: remoteAddress, helo: hostNameAppearsAs, sender, mta: 'agents.localhost' },
      resolver: lookUp as never,
    }),
  ])
  const { dmarc, spf, dkim } = checks
  const verdicts = { dmarc: dmarc ? dmarc.status : null, spf: spf ? spf.status : null, dkim: dkim.results }
  const isProven = dmarc ? dmarc.status.result === 'pass' : false
  const { attachments: files } = mail
  const references = [mail.inReplyTo, ...(mail.references?.split(/\s+/) ?? [])].filter(Boolean)
  await pool.query({
    name: 'store',
    text: STORE,
    values: [
      ...[randomUUID(), envelope.rcptTo[0]!.address.toLowerCase(), mail.from?.address, mail.from?.name],
      ...[
        mail.to?.map(({ address }) => address),
        mail.subject,
        mail.text,
        isProven,
        JSON.stringify(verdicts),
      ],
      ...[mail.messageId, references, createHash('sha256').update(raw).digest(), raw],
      ...[files.map(({ filename }) => filename), files.map(({ mimeType }) => mimeType)],
      files.map(({ content }) => Buffer.from(content as ArrayBuffer)),
    ],
  })
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, session, done) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => receive(Buffer.concat(chunks), session).then(() => done(), done))
  },
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.server.address() as AddressInfo).port))
