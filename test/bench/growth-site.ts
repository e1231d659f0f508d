import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { Client } from 'undici'
import type { RootDb } from '../../src/db/client.ts'
import type { Api } from '../support/service.ts'
import { atEnd } from './cleanup.ts'
import { tokenOf } from './growth-data.ts'

/** What was stored when the database was filled. */
export interface Seeded {
  token: string
  /** The agent with the large mailbox. */
  agentId: string
}

/** An agent without mail. */
interface Idle {
  id: string
  token: string
}

/** A running service on a database, with what its operations need. */
export interface Site {
  agentId: string
  /** A message of its mailbox, in a thread. */
  messageId: string
  db: RootDb
  origin: string
  /** Returns another idle agent at each call. */
  idle(): Idle
  /** Returns another number at each call. */
  next(): number
  /** Sends a request with the owner's token, or that of an agent. Throws unless the response is a 2xx. */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    token?: string,
  ): Promise<void>
  /** Delivers a mail to the agent with the large mailbox; resolves with the 250 after its end. */
  mail(): Promise<void>
  /** The cursor of the last page of agents. */
  lastAgents: string
}

const MAX_IDLE = 90

const idleAgents = async ({ pool }: RootDb): Promise<Idle[]> => {
  const { rows } = await pool.query<{ id: string; name: string }>(
    `select id, name from agent where name like 'Bench %' order by created_at desc limit ${MAX_IDLE}`,
  )
  return rows.map(({ id, name }) => ({ id, token: tokenOf(id, Number(name.slice('Bench '.length))) }))
}

/** Opens an SMTP session, over which mails are sent one after the other. */
const openMail = async (smtp: string, to: string, next: () => number) => {
  const [host, port] = smtp.split(':') as [string, string]
  const socket = connect({ host, port: Number(port), noDelay: true })
  atEnd(() => socket.destroy())
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]()
  const expect = async (code: string) => {
    for (;;) {
      const { value = '' } = await replies.next()
      if (value[3] === '-') continue
      if (!value.startsWith(code)) throw new Error(`expected ${code}, got ${value}`)
      return
    }
  }
  await expect('220')
  socket.write('EHLO bench.example.com\r\n')
  await expect('250')
  return async () => {
    const from = `ann${next()}@example.com`
    socket.write(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
    for (const code of ['250', '250', '354']) await expect(code)
    const id = `${process.pid}.${next()}@example.com`
    socket.write(
      `From: ${from}\r\nTo: ${to}\r\nMessage-ID: <${id}>\r\nSubject: Hi\r\n\r\nabout an order\r\n.\r\n`,
    )
    await expect('250')
  }
}

interface Started extends Seeded {
  http: string
  smtp: string
  db: RootDb
  api: Api
}

export const openSite = async ({ token, agentId, http, smtp, db, api }: Started): Promise<Site> => {
  const client = new Client(http, { pipelining: 1 })
  atEnd(() => client.destroy())
  let made = Date.now() % 1_000_000
  const next = () => made++
  const idle = await idleAgents(db)
  await api('PUT', `/agents/${agentId}/access/email`, { senders: ['*@example.com'] })
  const [address] = (await api('GET', `/agents/${agentId}/addresses`)).body
  const messages = (
    await api('GET', `/agents/${agentId}/messages?until=${new Date(Date.now() - 86_400_000).toISOString()}`)
  ).body
  const last = await db.prisma.agent.findFirstOrThrow({ orderBy: { createdAt: 'desc' }, skip: 20 })
  return {
    agentId,
    messageId: messages.items[0].id,
    db,
    origin: http,
    next,
    idle: () => idle[next() % idle.length]!,
    lastAgents: Buffer.from(JSON.stringify([last.createdAt.getTime(), last.id])).toString('base64url'),
    mail: await openMail(smtp, address.value, next),
    request: async (method, path, body, by = token) => {
      const response = await client.request({
        method,
        path,
        headers: {
          authorization: `Bearer ${by}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await response.body.text()
      if (response.statusCode >= 300 || text.startsWith('{"errors"'))
        throw new Error(`${method} ${path}: ${text}`)
    },
  }
}
