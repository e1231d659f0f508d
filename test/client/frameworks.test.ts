import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installClient } from '../support/client-package.ts'
import { startModel } from '../support/model.ts'
import { expectAllTasks, plan } from '../support/model-tasks.ts'
import { temporaryDir } from '../support/postgres.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * The examples for frameworks, with a stand-in model. Only with FRAMEWORKS: a folder in which the packages are installed, or
 * 1 to install them from the npm registry, which takes minutes.
 */
const { FRAMEWORKS } = process.env
const examples = join(import.meta.dirname, '..', '..', 'src', 'client', 'examples')
const MAX_LINES = 40
const PACKAGES = [
  ...['@openai/agents', 'langchain', '@langchain/core', '@langchain/openai', '@langchain/mcp-adapters'],
  ...['@mastra/core', '@mastra/mcp', '@ai-sdk/openai-compatible', 'zod'],
]
const dir = temporaryDir()
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

const FILES = ['openai-agent.mjs', 'langgraph-agent.mjs', 'mastra-agent.mjs', 'mcp-agent.mjs']

test.each(FILES)('%s can be read in a minute', (file) => {
  expect(readFileSync(join(examples, file), 'utf8').split('\n').length).toBeLessThanOrEqual(MAX_LINES)
})

test('the workflow of n8n connects nodes that it has, and takes what a webhook sends', () => {
  const { nodes, connections } = JSON.parse(readFileSync(join(examples, 'n8n-workflow.json'), 'utf8'))
  const names = nodes.map(({ name }: { name: string }) => name)
  for (const [from, kinds] of Object.entries<Record<string, { node: string }[][]>>(connections)) {
    expect(names).toContain(from)
    for (const outputs of Object.values(kinds))
      for (const { node } of outputs.flat()) expect(names).toContain(node)
  }
  expect(nodes[1].parameters.text).toContain('$json.body.data.messageId')
  expect(nodes[0].parameters.authentication).toBe('headerAuth')
  expect(JSON.stringify(nodes)).not.toContain('$env') // n8n 2 lets no expression read the environment
})

describe.skipIf(!FRAMEWORKS)(
  'a model answers a mail, reads its file, takes a code and asks a member (skipped without FRAMEWORKS=1: it needs the npm registry)',
  () => {
    let service: SharedService
    let owner: Tenant
    let app: string
    beforeAll(async () => {
      ;({ app } = installClient(dir))
      cpSync(examples, app, { recursive: true })
      if (FRAMEWORKS === '1')
        execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', ...PACKAGES], { cwd: app })
      else {
        // Modules are found from the folder in which they really are.
        const modules = join(FRAMEWORKS!, 'node_modules')
        rmSync(join(modules, '@agent-messaging'), { recursive: true, force: true })
        cpSync(join(app, 'node_modules', '@agent-messaging'), join(modules, '@agent-messaging'), {
          recursive: true,
        })
        rmSync(join(app, 'node_modules'), { recursive: true })
        symlinkSync(modules, join(app, 'node_modules'))
      }
      service = await sharedService()
      owner = await service.workspace()
    }, 900_000)

    const isConnected = (agent: TestAgent) =>
      until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0)

    test.each(FILES.slice(0, 3))('%s', async (file) => {
      const agent = await createTestAgent(service, owner)
      await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
      const model = await startModel(plan, () => 'answered')
      const { PATH = '' } = process.env
      const env = { PATH, HOME: dir, AMS_URL: service.http, AMS_TOKEN: agent.token, MODEL_URL: model.url }
      const child = spawn(process.execPath, [file], { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] })
      children.add(child)
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
      await isConnected(agent)
      await expectAllTasks({ service, owner, agent }, model)
      await until(() => said !== '')
      expect(said).toBe('Order: answered\n')
      rmSync(join(app, 'position'), { force: true })
      child.kill('SIGKILL')
      model.close()
    })
  },
)
