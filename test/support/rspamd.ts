import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that Rspamd received: https://rspamd.com/doc/developers/protocol.html */
export interface Asked {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Values of the `Rcpt` headers. */
  recipients: string[]
  body: Buffer
}

type Reply = (response: ServerResponse) => void

export interface Rspamd {
  readonly url: string
  readonly asked: Asked[]
  /** Sets the answer from now on: a regular one of Rspamd, or any response that a test writes. */
  answer(how: { action: string; score: number } | Reply): void
  stop(): Promise<void>
}

/**
 * Returns a report in the format of Rspamd 3: one object with the symbols that matched and the action that a
 * mail server should take.
 */
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
 * Starts a stand-in for Rspamd's normal worker: HTTP on a free loopback port, with the message in the body
 * and its envelope in headers.
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
