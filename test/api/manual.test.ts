import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { type SharedService, sharedService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** What a model reads that is given only the URL of a service. */

const folder = join(import.meta.dirname, '..', '..', 'docs')

let service: SharedService
let beginning: string
beforeAll(async () => {
  service = await sharedService()
  beginning = await (await fetch(`${service.http}/llms.txt`)).text()
})

test('a model that does only what llms.txt says answers its first mail after six requests', async () => {
  const owner = await service.workspace()
  const steps = [...beginning.matchAll(/^\d\. `([A-Z]+) (\S+)(?: (\{.*?\}))?` → /gm)]
  expect(steps).toHaveLength(5)
  const known: Record<string, string> = {}
  const said = [beginning]
  const filled = (text: string) => text.replace(/\{(id|messageId)\}/g, (_, name) => known[name]!)
  for (const [, method, path, body] of steps) {
    const answer = await owner.api(method!, filled(path!), body ? JSON.parse(filled(body)) : undefined)
    expect(answer.status).toBeLessThan(300)
    said.push(JSON.stringify(answer.body))
    if (method === 'POST' && path === '/agents') known.id = answer.body.id
    if (path!.includes('/addresses')) {
      const [, letIn] = beginning.match(/`PUT \/agents\/\{id\}\/access\/email (\{.*?\})`/)!
      await owner.api('PUT', `/agents/${known.id}/access/email`, JSON.parse(letIn!))
      await post(service, {
        from: 'ann@example.com',
        to: answer.body[0].value,
        subject: 'Hi',
        text: 'Hello?',
      })
    }
    if (path!.includes('/events')) known.messageId = answer.body.items[0].messageId
    if (body?.includes('replyTo'))
      await until(
        async () =>
          (await owner.api('GET', `/agents/${known.id}/messages/${answer.body.id}`)).body.status === 'sent',
      )
  }
  // About four characters a token.
  expect(said.join('').length / 4).toBeLessThan(4_000)
})

test('every page of the manual is served as it stands, and each that llms.txt names is one', async () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'))
  for (const name of names) {
    const page = await fetch(`${service.http}/docs/${name}`)
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=UTF-8')
    expect(await page.text()).toBe(readFileSync(join(folder, name), 'utf8'))
  }
  const linked = [...beginning.matchAll(/\/docs\/([a-z-]+\.md)\)/g)].map(([, name]) => name)
  expect(linked.length).toBeGreaterThan(5)
  expect(names).toEqual(expect.arrayContaining(linked))
})

test.each(['/docs/none.md', '/docs/..%2fpackage.json', '/docs/%2e%2e/README.md', '/docs/deployment'])(
  '%s is no page',
  async (path) => {
    expect((await fetch(service.http + path)).status).toBe(404)
  },
)
