import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { browserTest, startBrowser } from '../support/browser.ts'
import { newest, post } from '../support/letter.ts'
import { createTestAgent, sharedService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The client in a page of a real browser, which a server brings under one origin with the service. */

const PROGRAM = `import { Agent } from './index.js'
const agent = new Agent({ url: location.origin, token: location.hash.slice(1), fetch })
for await (const { message, done } of agent.messages({ from: 'beginning' })) {
  await message.reply('From a browser: ' + message.subject)
  await done()
}`

const bundle = async (): Promise<string> => {
  const resolveDir = join(import.meta.dirname, '..', '..', 'dist', 'client')
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]!.text
}

/** The page at `/`; everything else is the service's. */
const serve = async (http: string): Promise<string> => {
  const page = `<!doctype html><meta charset="utf-8"><script type="module">${await bundle()}</script>`
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/') return void response.writeHead(200, { 'Content-Type': 'text/html' }).end(page)
    const { method, headers } = request
    const onward = httpRequest(`${http}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

browserTest('a page in a browser answers what has arrived, and what arrives', async () => {
  const service = await sharedService()
  const owner = await service.workspace()
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const mail = (subject: string) =>
    post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
  const answered = (subject: string) =>
    until(async () => (await newest(agent))[0]?.text.includes(`From a browser: ${subject}`))
  await mail('before')
  const page = await (await startBrowser()).page()
  await page.goto(`${await serve(service.http)}#${agent.token}`)
  await answered('before')
  await mail('after')
  await answered('after')
  expect((await newest(agent))[0]).toMatchObject({ direction: 'outbound', subject: 'Re: after' })
})
