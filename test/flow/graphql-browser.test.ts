import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { browserTest, startBrowser } from '../support/browser.ts'
import { startGraphql } from '../support/graphql.ts'
import { until } from '../support/until.ts'

/** Runs the graphql-sse client in a page of a real browser, in both modes of the protocol. */

const library = readFileSync(
  join(dirname(createRequire(import.meta.url).resolve('graphql-sse')), '..', 'umd', 'graphql-sse.js'),
)

const PAGE = `<!doctype html><meta charset="utf-8"><title>subscriber</title><script src="/graphql-sse.js"></script><script>
  const { token, id } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  const query = 'subscription ($id: UUID!, $after: SafeInt) { messageReceived(agentId: $id, after: $after) { id message { text } } }'
  const report = (body) => fetch('/reports', { method: 'POST', body: JSON.stringify(body) })
  for (const singleConnection of [false, true]) {
    const client = graphqlSse.createClient({
      url: '/graphql' + (singleConnection ? '/stream' : ''), singleConnection, headers: { Authorization: 'Bearer ' + token }, retryAttempts: 0,
    })
    client.subscribe({ query, variables: { id, after: 0 } }, {
      next: ({ data }) => report({ singleConnection, event: data.messageReceived }),
      error: (error) => report({ singleConnection, error: String(error) + JSON.stringify(error) }),
      complete: () => undefined,
    })
  }
</script>`

interface Report {
  singleConnection: boolean
  event?: { id: number; message: { text: string } }
  error?: string
}

browserTest('a page in a browser receives events in both modes of graphql-sse', async () => {
  const service = await startGraphql()
  const tenant = await service.tenant()
  const agent = await service.agent(tenant)
  const reports: Report[] = []
  const files: Record<string, [string, string | Buffer]> = {
    '/': ['text/html', PAGE],
    '/graphql-sse.js': ['text/javascript', library],
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '/'
    if (url.startsWith('/graphql') && !files[url]) return service.graphql.handle(request, response)
    if (url === '/reports') {
      let body = ''
      for await (const chunk of request) body += chunk
      reports.push(JSON.parse(body))
      return void response.end()
    }
    const [type, content] = files[url] ?? ['text/plain', '']
    response.writeHead(200, { 'Content-Type': type }).end(content)
  }
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
  await service.letter(agent, tenant, 'before')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#token=${tenant.token}&id=${agent.id}`
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const page = await (await startBrowser()).page()
  await page.goto(address)
  await until(() => reports.length >= 2)
  await service.letter(agent, tenant, 'after')
  await until(() => reports.length >= 4)
  for (const singleConnection of [false, true]) {
    const events = reports.filter((one) => one.singleConnection === singleConnection)
    expect(events.map(({ event, error }) => error ?? [event?.id, event?.message.text])).toEqual([
      [1, 'before'],
      [2, 'after'],
    ])
  }
})
