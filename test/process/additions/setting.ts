import { beforeAll, expect, test } from 'vitest'
import type { ChangedCopy } from '../../support/changed-copy.ts'
import { expectFailure } from '../../support/failure.ts'
import { type Api, apiOf } from '../../support/service.ts'
import type { Running } from './additions.ts'

let owner: Api
let agent: string
let own: Api

const SAYS = 'How many agents it may create; null means no limit.'

/** A setting of agents: how many agents one may create. */
export const addSetting = (copy: ChangedCopy): void => {
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

export const testSetting = (running: () => Running): void => {
  beforeAll(async () => {
    const { http } = running()
    ;({ owner } = running())
    agent = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
    own = apiOf(http, (await owner('POST', `/agents/${agent}/tokens`, { name: 'own' })).body.token)
  })

  test('REST shows, changes and checks the new setting, and the service keeps to it', async () => {
    expect((await owner('GET', `/agents/${agent}`)).body).toMatchObject({ mostAgents: null })
    expectFailure(await owner('PATCH', `/agents/${agent}`, { mostAgents: 0 }), 'invalid_input', 'mostAgents')
    expect((await owner('PATCH', `/agents/${agent}`, { mostAgents: 1 })).body).toMatchObject({
      mostAgents: 1,
    })
    expect((await owner('GET', '/agents')).body).toContainEqual(
      expect.objectContaining({ id: agent, mostAgents: 1 }),
    )
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
}
