import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Api, createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'

const service = await startService({ environment: { MESSAGE_URL_BASE: 'https://to.example.com' } })
let owner: Tenant
let agent: TestAgent

const ask = async (api: Api, query: string, variables: object = {}) =>
  (await api('POST', '/graphql', { query, variables })).body

beforeAll(async () => {
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await createTestAgent(service, owner)
  for (const name of ['A', 'B'])
    await owner.api('PUT', `/agents/${agent.id}/secrets/${name}`, { value: `value of ${name}` })
  await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, {})
  await owner.api('PATCH', '/workspace', { name: 'Renamed' })
})

const AUDIT = `query ($first: Int, $after: String, $agentId: UUID, $action: AuditAction) {
  workspace { audit(first: $first, after: $after, agentId: $agentId, action: $action) {
    edges { node { id action actor { kind id name tokenId } agentId detail createdAt } } pageInfo { hasNextPage endCursor } } } }`

const auditOf = async (variables: object = {}) =>
  (await ask(owner.api, AUDIT, variables)).data.workspace.audit
const idsOf = ({ edges }: { edges: { node: { id: string } }[] }) => edges.map(({ node }) => node.id)

test('the audit log returns the same entries as REST, in pages', async () => {
  const rest = (await owner.api('GET', '/audit?limit=100')).body.items
  const whole = (await auditOf({ first: 100 })).edges.map(({ node }: { node: { action: string } }) => ({
    ...node,
    action: node.action.replace('_', '.'),
  }))
  expect(whole).toEqual(rest)
  expect(rest.length).toBeGreaterThan(3)
  const first = await auditOf({ first: 2 })
  const second = await auditOf({ first: 100, after: first.pageInfo.endCursor })
  expect([...idsOf(first), ...idsOf(second)]).toEqual(rest.map(({ id }: { id: string }) => id))
  expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false])
})

test('the audit log shows members who revealed which secrets of an agent, without their values', async () => {
  const { edges } = await auditOf({ agentId: agent.id, action: 'secret_reveal' })
  const node = {
    action: 'secret_reveal',
    actor: { kind: 'agent', id: agent.id },
    agentId: agent.id,
    detail: { names: ['A', 'B'] },
  }
  expect(edges).toMatchObject([{ node }])
  expect(JSON.stringify(edges)).not.toContain('value of')
  expect((await ask(agent.api, AUDIT)).errors[0].extensions.code).toBe('forbidden')
})

test('the messageUrl of an agent starts with MESSAGE_URL_BASE', async () => {
  const { data } = await ask(owner.api, 'query ($id: UUID!) { agent(id: $id) { messageUrl } }', {
    id: agent.id,
  })
  expect(data.agent.messageUrl).toBe(`https://to.example.com/a/${agent.id}`)
})

test('service tells where mail goes in and out, and which version and channels there are', async () => {
  const { data } = await ask(agent.api, '{ service { version publicUrl mailDomain smtp captured channels } }')
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(data.service).toEqual({
    version,
    publicUrl: service.http.replace('127.0.0.1', 'localhost'),
    mailDomain: 'agents.localhost',
    smtp: `${service.smtp.host}:${service.smtp.port}`,
    captured: true,
    channels: ['email', 'telegram'],
  })
})

const SUPPRESSIONS = `query ($after: String) { agents { suppressions(first: 2, after: $after) { edges { node { recipient } }
  pageInfo { hasNextPage endCursor } } } }`

test('paging through a suppression list returns every entry', async () => {
  const recipients = Array.from({ length: 5 }, (_, n) => `gone${n}@example.com`)
  const common = { agentId: agent.id, channel: 'email', reason: 'bounce', detail: '550 5.1.1' } as const
  const data = recipients.map((recipient, n) => ({
    ...common,
    recipient,
    createdAt: new Date(1_700_000_000_000 - (n >> 1)),
  }))
  await service.db.prisma.suppression.createMany({ data })
  const seen: string[] = []
  let after: string | null = null
  for (let more = true; more; ) {
    const { data: page } = await ask(owner.api, SUPPRESSIONS, { after })
    const [{ edges, pageInfo }, another] = page.agents.map(
      ({ suppressions }: { suppressions: object }) => suppressions,
    )
    expect(another.edges).toEqual([])
    seen.push(...edges.map(({ node }: { node: { recipient: string } }) => node.recipient))
    after = pageInfo.endCursor
    more = pageInfo.hasNextPage
  }
  expect(seen).toEqual(recipients)
})

test.each(['x', 'W10', 'WzEsIngiXQ', 'WzllOTksIjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMCJd'])(
  'the invalid cursor %s is refused as an error of the argument after',
  async (after) => {
    const error = {
      message: 'after: is not a valid cursor for this list',
      extensions: { code: 'invalid_input', field: 'after' },
    }
    expect((await ask(owner.api, AUDIT, { after })).errors).toMatchObject([error])
    if (after !== 'WzEsIngiXQ')
      expect((await ask(owner.api, SUPPRESSIONS, { after })).errors).toMatchObject([error])
  },
)
