import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ams, amsHere, endAms, startAms } from '../../support/ams.ts'
import { drawn, pdf } from '../../support/documents.ts'
import { receive } from '../../support/letter.ts'
import { temporaryDir } from '../../support/postgres.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../../support/service.ts'

const home = temporaryDir()
let service: SharedService
let owner: Tenant
let agent: TestAgent
let env: Record<string, string>
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  env = { HOME: home, AMS_URL: service.http, AMS_TOKEN: agent.token }
})
afterAll(() => {
  endAms()
  rmSync(home, { recursive: true, force: true })
})

const mail = (subject: string, more: object = {}) =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, subject, text: 'Hello', ...more })
const jsonOf = async (args: string[], more: Record<string, string> = {}) => {
  const { stdout, stderr, code } = await ams({ ...env, ...more }, [...args, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

test('messages are forwarded, scheduled, and sent once with a key', async () => {
  const { id } = await mail('Invoice')
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const [later] = await jsonOf(['forward', id, '--to', 'bo@example.com', 'Yours?', '--at', at])
  expect(later).toMatchObject({ subject: 'Fwd: Invoice', status: 'sending', hold: { until: at } })
  const args = ['send', '--to', 'bo@example.com', '--subject', 'Once', '--key', 'k1', 'text']
  args.push('--conversation', 'T-1')
  const [[first], [second]] = [await jsonOf(args), await jsonOf(args)]
  expect(second.id).toBe(first.id)
  expect(first.conversationKey).toBe('T-1')
  const [answer] = await jsonOf(['reply', id, 'Soon.', '--at', at])
  expect(answer.hold.until).toBe(at)
})

test('a message that waits says for what', async () => {
  const { id } = await mail('Waits')
  const reply = (...more: string[]) => ams(env, ['reply', id, 'Soon.', ...more])
  const at = new Date(Date.now() + 3_600_000).toISOString()
  expect((await reply('--at', at)).stdout).toContain(
    ` [scheduled for ${at.slice(0, 10)} ${at.slice(11, 16)}Z] `,
  )
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  expect((await reply()).stdout).toContain(' [waits for approval] ')
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'none' })
})

test('a search says where it found each message', async () => {
  await mail('Berths', { text: 'The trawler is\nin berth 9.' })
  const { stdout } = await ams(env, ['messages', '--q', 'trawler'])
  expect(stdout.split('\n').slice(1, 2)).toEqual(['    text: The trawler is in berth 9.'])
  expect(await jsonOf(['messages', '--q', 'trawler'])).toMatchObject([{ highlights: [{ field: 'text' }] }])
})

test('a reply to all goes to the other recipients too', async () => {
  const { id } = await mail('All', { to: `${agent.address}, bo@example.com`, cc: 'cy@example.com' })
  const [answer] = await jsonOf(['reply', id, 'Hello all', '--all'])
  expect(answer).toMatchObject({ to: ['ann@example.com', 'bo@example.com'], cc: ['cy@example.com'] })
})

test('a secret is never set from the event that a command of listen has as its input', async () => {
  const given = { ...env, AMS_EVENT_ID: '1' }
  const { stderr, code } = await ams(given, ['secrets', 'set', 'KEY'])
  expect({ stderr, code }).toEqual({ stderr: expect.stringMatching(/inside ams listen/), code: 2 })
  expect((await owner.api('GET', `/agents/${agent.id}/secrets`)).body).toEqual([])
})

test('messages are marked, and found by what was marked', async () => {
  const first = await mail('Marked')
  const second = await mail('Not marked', { from: 'cy@other.example' })
  const marked = await jsonOf(['mark', first.id, '--read', '--label', 'done', '--label', 'late'])
  expect(marked).toMatchObject([{ id: first.id, labels: ['done', 'late'] }])
  const ids = async (...args: string[]) => (await jsonOf(['messages', ...args])).map(({ id }) => id)
  expect(await ids('--label', 'done')).toEqual([first.id])
  expect(await ids('--unread', '--from', '*@other.example')).toEqual([second.id])
  expect(await ids('--thread', first.id)).toEqual([first.id])
  await jsonOf(['mark', first.id, '--unread', '--unlabel', 'done'])
  expect(await ids('--label', 'done')).toEqual([])
})

test('wait prints the next message of a sender, also one that came since a position', async () => {
  const { stdout } = await ams(env, ['wait', '--position'])
  await mail('Code 1', { from: 'codes@example.com' })
  const [found] = await jsonOf(['wait', '--after', stdout.trim(), '--from', 'codes@example.com'])
  expect(found.subject).toBe('Code 1')
  expect(await ams(env, ['wait', '--from', 'nobody@example.com', '--seconds', '1'])).toMatchObject({
    code: 1,
    stdout: '',
  })
  const waiting = startAms(env, ['wait', '--after', stdout.trim(), '--from', '*@late.example'])
  await mail('Late', { from: 'x@late.example' })
  expect((await waiting.exited).stdout).toContain('Late')
})

test('files are listed, and saved under names that cannot leave the folder', async () => {
  const names = ['a.txt', '../../evil.sh', 'a.txt', '.profile']
  const attachments = names.map((filename, index) => ({ filename, content: `file ${index}` }))
  const { id } = await mail('Files', { attachments })
  expect((await jsonOf(['files', id])).map(({ size }) => size)).toEqual([6, 6, 6, 6])
  const folder = join(home, 'in', 'here')
  await jsonOf(['files', id, '--save', folder])
  expect(readdirSync(folder).sort()).toEqual(['3-a.txt', 'a.txt', 'evil.sh', 'profile'])
  expect(readFileSync(join(folder, '3-a.txt'), 'utf8')).toBe('file 2')
  expect(readdirSync(join(home, 'in'))).toEqual(['here'])
  expect((await ams(env, ['files', id, '--save', folder])).code).toBe(1) // nothing is overwritten
})

test('a file is printed, or its text', async () => {
  const content = pdf([drawn([72, 700, 'Invoice 4711'])])
  const { id } = await mail('Invoice', { attachments: [{ filename: 'a.pdf', content }] })
  expect((await ams(env, ['attachment', id, '0', '--text'])).stdout).toBe('Invoice 4711\n')
  expect(await jsonOf(['attachment', id, '0', '--text'])).toEqual([{ text: 'Invoice 4711' }])
  expect((await ams(env, ['attachment', id, '0'])).stdout).toMatch(/^%PDF-1\.7/)
  expect((await ams(env, ['attachment', id, 'first'])).code).toBe(2)
  expect((await ams(env, ['attachment', id, '1', '--text'])).stderr).toMatch(/no attachment with this number/)
})

test("agents and their tokens are made with a member's token", async () => {
  const member = { AMS_TOKEN: owner.token }
  const [made] = await jsonOf(['agents', 'create', 'Second', '--icon', 'mail'], member)
  expect(await jsonOf(['agents', 'list'], member)).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: made.id, name: 'Second', icon: 'mail' })]),
  )
  const which = ['--agent', made.id]
  const { stdout: token } = await ams({ ...env, ...member }, ['tokens', 'create', 'laptop', ...which])
  const limits = ['--scopes', 'messages:read, events', '--expires', '2040-01-01T00:00:00Z']
  expect(await jsonOf(['tokens', 'create', 'reader', ...limits, ...which], member)).toMatchObject([
    { name: 'reader', scopes: ['messages:read', 'events'], expiresAt: '2040-01-01T00:00:00.000Z' },
  ])
  const own = { AMS_TOKEN: token.trim() }
  expect(await jsonOf(['whoami'], own)).toMatchObject([{ kind: 'agent', agent: { id: made.id } }])
  const listed = await jsonOf(['tokens', 'list', ...which], member)
  expect(JSON.stringify(listed)).not.toContain(token.trim())
  const { id } = listed.find(({ name }) => name === 'laptop')
  await jsonOf(['tokens', 'revoke', id, ...which], member)
  expect((await ams({ ...env, ...own }, ['whoami'])).code).toBe(3)
})

test('who may instruct an agent is set by members', async () => {
  const member = { ...env, AMS_TOKEN: owner.token }
  const set = (who: string) => ['agents', 'set', '--agent', agent.id, '--instructors', who]
  const { stdout } = await ams(member, set('listed'))
  expect(stdout).toMatch(new RegExp(`^${agent.id} .* instructors: listed\n$`))
  expect(await jsonOf(set('members'), { AMS_TOKEN: owner.token })).toMatchObject([{ instructors: 'members' }])
  const refused = await ams(env, set('none'))
  expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('Only a member') })
  const wrong = await ams(member, set('everybody'))
  expect(wrong.stderr).toMatch(/^ams: --instructors: .*none.*members.*listed/)
})

test.each([
  [['messages'], '--agent: is missing'],
  [['read', 'x', '--agent'], 'ID: must be'],
  [['mark', 'x', '--read', '--agent'], 'ID: must be'],
  [['reply', 'x', 'text', '--agent'], 'ID: must be'],
  [['send', '--to', 'x@', 'text', '--agent'], '--to: '],
  [['send', '--to', 'x@example.com', '--at', 'soon', 'text', '--agent'], '--at: must be'],
  [['messages', '--since', 'soon', '--agent'], '--since: must be'],
  [['agents', 'set', '--wake-after', '301', '--agent'], '--wake-after: must be'],
  [['ask', '--expires', '30s', 'Now?', '--agent'], '--expires: must be'],
  [['ask', '--option', 'Yes', 'Now?', '--agent'], '--option: must contain'],
])('%j: the error names the argument that was given', async (args, says) => {
  const own = args.at(-1) === '--agent' ? [agent.id] : []
  const { code, stderr } = await amsHere({ ...env, AMS_TOKEN: owner.token }, [...args, ...own])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`ams: ${says}`) })
})

test('an agent that is no id is wrong usage', async () => {
  const { code, stderr } = await amsHere({ ...env, AMS_TOKEN: owner.token }, ['messages', '--agent', 'x'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('ams: --agent must be the id'),
  })
})

test('an empty secret is refused', async () => {
  const { code, stderr } = await ams(env, ['secrets', 'set', 'EMPTY'], '\n')
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('empty') })
  expect((await ams(env, ['secrets', 'list'])).stdout).toBe('')
})

describe('setup', () => {
  const files = {
    claude: '.claude.json',
    codex: '.codex/config.toml',
    cursor: '.cursor/mcp.json',
    gemini: '.gemini/settings.json',
  }

  test.each(Object.entries(files))('%s gets a server that works, and keeps all else', async (host, file) => {
    const path = join(home, file)
    const isToml = file.endsWith('.toml')
    const before = isToml
      ? 'model = "x"\n\n[mcp_servers.inbox]\ncommand = "old"\nargs = []\n\n[mcp_servers.other]\ncommand = "y"\n'
      : '{"theme": "dark", "mcpServers": {"other": {"command": "y"}}}'
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, before)
    for (const _ of ['once', 'again']) expect((await ams(env, ['setup', host])).code).toBe(0)
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(agent.token)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const command = JSON.parse(/"?command"?(?: =|:) (".*dist|"[^\n]*node[^\n",]*")/.exec(text)?.[1] ?? '""')
    const args = JSON.parse(/"?args"?(?: =|:) (\[[^\]]*\])/.exec(text)?.[1] ?? '[]')
    if (isToml) expect(text.match(/^\[.*\]$/gm)).toEqual(['[mcp_servers.inbox]', '[mcp_servers.other]'])
    else
      expect(JSON.parse(text)).toEqual({
        theme: 'dark',
        mcpServers: { other: { command: 'y' }, inbox: { command, args } },
      })
    const client = new Client({ name: 'host', version: '1.0' })
    await client.connect(new StdioClientTransport({ command, args, env: { HOME: home } }))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('list_messages')
    await client.close()
  })

  test('a file that cannot be read is not touched, and another login neither', async () => {
    const config = { ...env, HOME: join(home, 'second') }
    mkdirSync(config.HOME)
    writeFileSync(join(config.HOME, '.claude.json'), '{broken')
    expect(await ams(config, ['setup', 'claude'])).toMatchObject({ code: 2, stdout: '' })
    expect(readFileSync(join(config.HOME, '.claude.json'), 'utf8')).toBe('{broken')
    expect(existsSync(join(config.HOME, '.config'))).toBe(false)
    expect((await ams({ ...env, AMS_TOKEN: owner.token }, ['setup', 'cursor'])).code).toBe(2)
  })
})
