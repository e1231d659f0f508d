import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What Rspamd was asked: https://rspamd.com/doc/developers/protocol.html */
export interface Asked {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Each `Rcpt` header's value. */
  recipients: string[]
  body: Buffer
}

type Reply = (response: ServerResponse) => void

export interface Rspamd {
  readonly url: string
  readonly asked: Asked[]
  /** How it answers from now on: as Rspamd does, or however a test likes. */
  answer(how: { action: string; score: number } | Reply): void
  stop(): Promise<void>
}

/** As Rspamd 3 writes it: one object, the symbols that matched, and what a mail server should do. */
const reportOf = ({ action, score }: { action: string; score: number }) => ({
  is_skipped: false,
  score,
  required_score: 15.0,
  action,
  symbols: {
    BAYES_SPAM: {
      name: 'BAYES_SPAM',
      score,
      metric_score: score,
      description: 'Message probably spam',
      options: ['100.00%'],
    },
  },
  messages: {},
  'message-id': 'x@example.com',
  time_real: 0.043,
  milter: {},
})

/**
 * A stand-in for Rspamd's normal worker: HTTP on a free port of the loopback, the message as the body, its
 * envelope in headers.
 */
export const startRspamd = async (): Promise<Rspamd> => {
  const asked: Asked[] = []
  const reportAs = (report: { action: string; score: number }): Reply => {
    const body = JSON.stringify(reportOf(report))
    return (response) =>
      response.writeHead(200, { 'Content-Type': 'application/json', Server: 'rspamd/3.8.4' }).end(body)
  }
  let reply = reportAs({ action: 'no action', score: 0.4 })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const recipients = request.headersDistinct.rcpt ?? []
    const { method = '', url = '', headers } = request
    asked.push({ method, path: url, headers, recipients, body: Buffer.concat(chunks) })
    reply(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (how) => {
      reply = typeof how === 'function' ? how : reportAs(how)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
