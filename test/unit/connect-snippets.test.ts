import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectCode, type Host } from '../../src/dashboard/tokens/hosts.ts'

/** What the web application offers to copy is what the manual says. */

const read = (...path: string[]) => readFileSync(join(import.meta.dirname, '..', '..', ...path), 'utf8')
const MANUAL = read('docs', 'mcp.md')
const CLIENT = read('src', 'client', 'README.md')

const codeOf = (host: Host) =>
  connectCode(host, { agentId: 'AGENT-ID', publicUrl: 'http://localhost:4000', token: '$AMS_TOKEN' })

test('Claude Code', () => {
  expect(MANUAL).toContain(`\`${codeOf('claude')}\``)
})

test('Codex', () => {
  const settings = codeOf('codex').split('\n').slice(2, -1)
  expect(settings).toHaveLength(3)
  expect(MANUAL).toContain(
    `in \`~/.codex/config.toml\`, on three lines: ${settings.map((line) => `\`${line}\``).join(', ')}`,
  )
})

test('Cursor', () => {
  const [, settings = ''] = /in `~\/\.cursor\/mcp\.json`: `([^`]+)`/.exec(MANUAL) ?? []
  expect(JSON.parse(codeOf('cursor'))).toEqual(JSON.parse(settings.replace(/\$\{env:(\w+)\}/, '$$$1')))
})

test('ChatGPT', () => {
  expect(codeOf('chatgpt')).toBe('http://localhost:4000/mcp')
  expect(MANUAL).toContain('with the URL `PUBLIC_URL/mcp`')
})

test('JavaScript', () => {
  const lines = codeOf('javascript')
    .split('\n')
    .filter((line) => /import|for await|done/.test(line))
  expect(lines).toHaveLength(3)
  for (const line of lines) expect(CLIENT).toContain(line)
})
