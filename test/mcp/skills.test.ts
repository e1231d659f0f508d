import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type McpClient, openMcp, postRpc } from '../support/mcp.ts'
import { createTestAgent, type SharedService, sharedService, type TestAgent } from '../support/service.ts'

/** The Skills extension, and the plugins of hosts that have the same skill as a file. */

const PLUGIN = join(import.meta.dirname, '..', '..', 'docs', 'plugin')
const read = (...path: string[]): string => readFileSync(join(PLUGIN, ...path), 'utf8')
const URI = 'skill://agent-messaging/SKILL.md'

let service: SharedService
let agent: TestAgent
let mcp: McpClient
beforeAll(async () => {
  service = await sharedService()
  agent = await createTestAgent(service, await service.workspace())
  mcp = await openMcp(service.http, agent.token)
})
afterAll(() => mcp.close())

test('a skill is listed with its frontmatter and the digest of its file, and read as a resource', async () => {
  const { result: discovered } = (await postRpc(service.http, agent.token, 'server/discover')).body
  expect(discovered.capabilities.extensions).toHaveProperty(['io.modelcontextprotocol/skills'])
  const { result } = (await postRpc(service.http, agent.token, 'skills/list')).body
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' })
  const [skill] = result.skills
  const text = read('skills', 'agent-messaging', 'SKILL.md')
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  expect(skill).toEqual({
    uri: URI,
    frontmatter: parse(text.split('---\n')[1]!),
    resources: [{ uri: URI, digest, size: Buffer.byteLength(text) }],
  })
  expect((await postRpc(service.http, agent.token, 'skills/get', { uri: URI })).body.result.skill).toEqual(
    skill,
  )
  const { contents } = await mcp.client.readResource({ uri: URI })
  expect(contents).toEqual([{ uri: URI, mimeType: 'text/markdown', text }])
})

test.each(['skill://other/SKILL.md', 'skill://agent-messaging/../../package.json', ''])(
  'there is no skill %j',
  async (uri) => {
    const { body } = await postRpc(service.http, agent.token, 'skills/get', { uri })
    expect(body.error.code).toBe(-32602)
    await expect(mcp.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })
  },
)

test('the skill names tools that there are', async () => {
  const { tools } = await mcp.client.listTools()
  const names = tools.map(({ name }) => name)
  const named = [...read('skills', 'agent-messaging', 'SKILL.md').matchAll(/`([a-z]+_[a-z_]+)`/g)]
  expect(named.length).toBeGreaterThan(5)
  for (const [, name] of named) expect(names).toContain(name)
})

test.each(['.claude-plugin', '.codex-plugin', '.cursor-plugin'])(
  'the plugin in %s names files that there are',
  (folder) => {
    const { name, version, description, skills, mcpServers } = JSON.parse(read(folder, 'plugin.json'))
    expect(name).toMatch(/^[a-z-]+$/)
    expect(version).toBe(JSON.parse(readFileSync(join(PLUGIN, '..', '..', 'package.json'), 'utf8')).version)
    expect(description).toEqual(expect.any(String))
    expect(existsSync(join(PLUGIN, skills, 'agent-messaging', 'SKILL.md'))).toBe(true)
    expect(JSON.parse(read(mcpServers)).mcpServers.inbox.url).toMatch(/AMS_URL.*\/mcp$/)
  },
)
