import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChangedCopy } from '../support/changed-copy.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { expectFailure } from '../support/failure.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, runIn } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'

/** The service with an additional setting of agents, added to a copy as docs/development.md describes: how many agents one may create. */
const copy = new ChangedCopy()
const dataDir = temporaryDir()
let database: TestDatabase
let owner: Api
let agent: string
let own: Api

const SAYS = 'How many agents it may create; null means no limit.'

const addSetting = (): void => {
  copy.add(
    'prisma/migrations/29990101000000_most_agents/migration.sql',
    'ALTER TABLE "agent" ADD COLUMN "most_agents" INTEGER;',
  )
  copy.edit('prisma/schema.prisma', [
    '  wakesPerThreadDay Int?     @map("wakes_per_thread_day")\n',
    '  wakesPerThreadDay Int?     @map("wakes_per_thread_day")\n  mostAgents        Int?     @map("most_agents")\n',
  ])
  copy.edit(
    'src/api/agent/agent.ts',
    ['export const MANAGED = {\n', `export const MANAGED = {\n  mostAgents: count('${SAYS}').nullable(),\n`],
    ['  wakesPerThreadDay: null,\n', '  wakesPerThreadDay: null,\n  mostAgents: 3,\n'],
    [
      '    icon: icon.optional(),\n',
      `    icon: icon.optional(),\n    mostAgents: says(wakeLimit, '${SAYS}').nullable().optional(),\n`,
    ],
  )
  copy.edit(
    'src/agent/create.ts',
    [
      'async ({ prisma, rates, clock }: AgentDeps, { kind, workspaceId }: Viewer)',
      'async ({ prisma, rates, clock }: AgentDeps, { kind, workspaceId, id }: Viewer)',
    ],
    [
      "  if (kind === 'member') return\n",
      `  if (kind === 'member') return
  const { mostAgents } = await prisma.agent.findUniqueOrThrow({ where: { id } })
  if (mostAgents !== null && (await prisma.agent.count({ where: { createdByAgentId: id } })) >= mostAgents)
    throw new AppError('forbidden', \`This agent may create \${mostAgents} agents.\`)
`,
    ],
  )
  copy.edit(
    'src/dashboard/settings/limits.ts',
    ['{ wakesPerHour wakesPerThreadDay }', '{ wakesPerHour wakesPerThreadDay mostAgents }'],
    [
      '  wakesPerHour: {',
      "  mostAgents: { en: 'Agents of its own', de: 'Eigene Agenten' },\n  wakesPerHour: {",
    ],
  )
}

beforeAll(async () => {
  addSetting()
  await copy.build()
  database = await createTestDatabase()
  const settings = {
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: dataDir,
  }
  const running = runIn(copy.dir, settings)
  const { http } = await running.ready()
  owner = apiOf(http, /amt_[0-9A-Za-z]{43}/.exec(running.stdout)![0])
  agent = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
  own = apiOf(http, (await owner('POST', `/agents/${agent}/tokens`, { name: 'own' })).body.token)
}, 240_000)

// Not within `beforeAll`, where Vitest never runs it.
afterAll(async () => {
  await cleanUp(dataDir)
  await database?.drop()
  copy.remove()
})

test('a setting of agents is named by hand in at most 6 files, those of the web application included', async () => {
  expect(copy.files).toBeLessThanOrEqual(6)
  await copy.compile()
}, 240_000)

test('REST shows, changes and checks the new setting, and the service keeps to it', async () => {
  expect((await owner('GET', `/agents/${agent}`)).body).toMatchObject({ mostAgents: null })
  expectFailure(await owner('PATCH', `/agents/${agent}`, { mostAgents: 0 }), 'invalid_input', 'mostAgents')
  expect((await owner('PATCH', `/agents/${agent}`, { mostAgents: 1 })).body).toMatchObject({ mostAgents: 1 })
  const [listed] = (await owner('GET', '/agents')).body
  expect(listed).toMatchObject({ id: agent, mostAgents: 1 })
  const create = () => own('POST', '/agents', { name: 'Child', icon: 'bot' })
  expect(await create()).toMatchObject({ status: 201, body: { mostAgents: null } })
  expectFailure(await create(), 'forbidden', 'may create 1 agents')
  const { body } = await owner('GET', '/audit?action=agent.update')
  expect(body.items).toMatchObject([{ agentId: agent, detail: { mostAgents: 1 } }])
})

test('GraphQL shows and changes the new setting', async () => {
  const query = `mutation ($id: UUID!) {
    updateAgent(input: { agentId: $id, mostAgents: 5 }) { agent { mostAgents } }
  }`
  const { body } = await owner('POST', '/graphql', { query, variables: { id: agent } })
  expect(body.data).toEqual({ updateAgent: { agent: { mostAgents: 5 } } })
})
