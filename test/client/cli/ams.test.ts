import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ams, amsHere, endAms, startAms } from '../../support/ams.ts'
import { newest, receive } from '../../support/letter.ts'
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
afterAll(() => rmSync(home, { recursive: true, force: true }))

const mail = (subject: string, text = 'Hello') =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, subject, text })

describe('help', () => {
  const names =
    'login logout whoami listen messages read reply send forward mark wait code files import secrets run agents tokens mcp setup completion'.split(
      ' ',
    )

  test('the overview names every command and every exit code', async () => {
    const { code, stdout } = await ams({}, ['--help'])
    expect(code).toBe(0)
    for (const name of [...names, 'Exit codes']) expect(stdout).toContain(name)
  })

  test('every command has options and examples', async () => {
    for (const name of names) {
      const { code, stdout } = await amsHere({}, [name, '--help'])
      expect({ name, code }).toEqual({ name, code: 0 })
      expect(stdout).toMatch(new RegExp(`^ams ${name}[^]*--json[^]*Examples:\n {2}`))
    }
  })

  test('-h and --version are understood', async () => {
    expect((await amsHere({}, ['-h'])).stdout).toMatch(/^ams COMMAND/)
    expect((await amsHere({}, ['wait', '-h'])).stdout).toMatch(/^ams wait /)
    expect(await ams({}, ['--version'])).toMatchObject({ code: 0, stdout: '1.1.0\n' })
  })

  test.each([
    [[]],
    [['dance']],
    [['messages', '--nonsense']],
    [['messages', '--limit', '0']],
    [['read']],
    [['send', 'x']],
    [['reply', 'id', 'two', 'words']],
    [['reply', 'id', '-1 from me']],
    [['reply', 'id', '']],
    [['listen', '--from', 'yesterday']],
    [['listen', '--exec', 'x', '--forward', 'http://x']],
    [['run', '--secrets', 'A']],
    [['run', '--', 'true']],
    [['secrets', 'show']],
    [['agents']],
    [['agents', 'set']],
    [['tokens', 'revoke']],
    [['setup', 'emacs']],
    [['mark', 'id']],
    [['mark', 'id', '--read', '--unread']],
    [['forward', 'id', 'text']],
    [['wait', '--after', 'x']],
    [['listen', '--exec', '']],
    [['send', '--to', '', 'text']],
    [['messages', '--agent', '']],
    [['completion', 'tcsh']],
  ])('%j is wrong usage: exit code 2', async (args) => {
    const { code, stderr, stdout } = await amsHere(env, args)
    expect(code).toBe(2)
    expect(stderr + stdout).not.toBe('')
  })

  test('the process ends with that code', async () => {
    expect(await ams(env, ['dance'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('who one is', () => {
  test("an agent's and a member's token are told apart", async () => {
    expect((await ams(env, ['whoami'])).stdout).toContain(`Support Bot (${agent.id}) at ${service.http}`)
    const member = await ams({ ...env, AMS_TOKEN: owner.token }, ['whoami', '--json'])
    expect(JSON.parse(member.stdout)).toMatchObject({ kind: 'member', workspace: { name: 'Acme' } })
  })

  test('a token that is for one thing only says who it is and what it may be used for', async () => {
    const expiresAt = '2040-01-01T00:00:00.000Z'
    const limits = { scopes: ['events'], expiresAt }
    const { token } = (await owner.api('POST', '/tokens', limits)).body
    const config = { HOME: home, XDG_CONFIG_HOME: join(home, 'scoped') }
    const stored = await ams(config, ['login', '--url', service.http], token)
    const line = `${owner.email}, a member of the workspace Acme at ${service.http}; scopes events; expires ${expiresAt}\n`
    expect(stored).toMatchObject({ code: 0, stdout: line })
    const who = JSON.parse((await ams(config, ['whoami', '--json'])).stdout)
    expect(who).toMatchObject({ kind: 'member', member: { email: owner.email }, ...limits })
    const of = (await owner.api('POST', `/agents/${agent.id}/tokens`, limits)).body.token
    const { stdout } = await ams({ ...env, AMS_TOKEN: of }, ['whoami', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'agent', agent: { id: agent.id }, ...limits })
  })

  test('login stores a token that works, for this user only, and no other', async () => {
    const config = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') }
    const wrong = await ams(config, ['login', '--url', service.http], `aat_${'x'.repeat(43)}`)
    expect(wrong).toMatchObject({ code: 3, stdout: '' })
    expect((await ams(config, ['whoami'])).code).toBe(3)
    const { code, stderr } = await ams(config, ['login', '--url', service.http], `${agent.token}\n`)
    expect(code).toBe(0)
    const path = join(home, 'config', 'ams', 'credentials.json')
    expect(stderr).toContain(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await ams(config, ['whoami'])).stdout).toContain(agent.id)
    // The stored token is not for another service.
    expect((await ams({ ...config, AMS_URL: 'http://127.0.0.1:9' }, ['whoami'])).code).toBe(3)
  })

  test('the exit code says what kind of failure it was', async () => {
    const missing = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
    expect((await ams({ ...env, AMS_TOKEN: 'aat_x' }, ['messages'])).code).toBe(3)
    expect((await ams(env, ['read', missing])).code).toBe(4)
    const { code, stderr } = await ams(env, ['read', missing, '--json'])
    expect(code).toBe(4)
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'not_found', status: 404, requestId: expect.any(String) },
    })
  })
})

describe('messages', () => {
  test('are listed, searched, read, and replied to from an argument or standard input', async () => {
    const { id } = await mail('Where is my order?', 'It has not arrived.')
    const listed = await ams(env, ['messages', '--q', 'order', '--limit', '1'])
    expect(listed.stdout).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\dZ <- .*ann@example\.com.* Where is my order\?.* [0-9a-f-]{36}\n$/,
    )
    const shown = await ams(env, ['read', id])
    expect(shown.stdout).toContain('Subject: Where is my order?')
    expect(shown.stdout).toContain('It has not arrived.')
    expect((await ams(env, ['read', id, '--raw'])).stdout).toMatch(/^Subject: Where is my order\?\r$/m)
    expect(await ams(env, ['reply', id, 'On its way.'])).toMatchObject({ code: 0 })
    expect((await newest(agent))[0]).toMatchObject({ text: 'On its way.', subject: 'Re: Where is my order?' })
    const second = await ams(env, ['reply', id, '-', '--json'], 'Soon.\n')
    expect(JSON.parse(second.stdout)).toMatchObject({ direction: 'outbound' })
    expect((await newest(agent))[0].text).toContain('Soon.')
  })

  test('take standard input only for -, never instead of a text, and never inside ams listen', async () => {
    const { id } = await mail('Numbers', 'How many?')
    const args = ['send', '--to', 'bo@example.com', '--json']
    const sent = await ams(env, [...args, '--', '-1 from me'], 'X\n')
    expect(JSON.parse(sent.stdout).text).toBe('-1 from me')
    const answered = await ams(env, ['reply', '--json', id, '--', '-- 5 --'], 'X\n')
    expect(JSON.parse(answered.stdout).text).toBe('-- 5 --')
    const before = (await newest(agent))[0].id
    for (const wrong of [['reply', id], ['reply', id, ''], ['reply', id, '--'], args])
      expect(await ams(env, wrong, 'X\n')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('TEXT is missing'),
      })
    expect(await ams(env, ['reply', id, '-'], ' \n')).toMatchObject({ code: 2 })
    expect(await ams({ ...env, AMS_EVENT_ID: '7' }, ['reply', id, '-'], 'X\n')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('inside ams listen'),
    })
    expect((await newest(agent))[0].id).toBe(before)
  })

  test('are sent with files, over the channel that the address belongs to', async () => {
    const file = join(home, 'table.csv')
    writeFileSync(file, 'a,b\n')
    const sent = await ams(env, [
      'send',
      '--to',
      'bo@example.com',
      '--subject',
      'Table',
      '--attach',
      file,
      'Here.',
      '--json',
    ])
    expect(JSON.parse(sent.stdout)).toMatchObject({
      channel: 'email',
      to: ['bo@example.com'],
      subject: 'Table',
      attachments: [{ name: 'table.csv', type: 'text/csv', size: 4 }],
    })
  })

  test('are sent and answered as HTML from a file, with the text made from it', async () => {
    const file = join(home, 'report.html')
    writeFileSync(file, '<h1>Report</h1><p>All <b>good</b>.</p>')
    const sent = await ams(env, ['send', '--to', 'bo@example.com', '--html', file, '--json'])
    expect(JSON.parse(sent.stdout).text).toMatch(/^Report\s+All good\.$/i)
    const page = await agent.api('GET', `/agents/${agent.id}/messages/${JSON.parse(sent.stdout).id}/html`)
    expect(page.text).toContain('All <b>good</b>.')
    const { id } = await mail('A question', 'Well?')
    const answer = await ams(env, ['reply', id, 'Plain.', '--html', file, '--json'])
    expect(JSON.parse(answer.stdout).text).toBe('Plain.')
  })

  test('bring no escape sequences to the terminal', async () => {
    const { id } = await mail('\x1b]0;owned\x07Free \u202Emoney\x9b31m', 'line\x1b[2Jone\nline two\x08')
    const outputs = await Promise.all([
      ams(env, ['read', id]),
      ams(env, ['read', id, '--json']),
      ams(env, ['messages', '--limit', '1']),
      ams(env, ['messages', '--limit', '1', '--json']),
    ])
    for (const { code, stdout } of outputs) {
      expect(code).toBe(0)
      expect(stdout).toContain('money')
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    }
    const { body } = await agent.api('GET', `/agents/${agent.id}/messages/${id}`)
    expect(JSON.parse(outputs[1].stdout).subject).toBe(body.subject)
  })
})

test('code prints the newest code alone, once, or makes it a secret', async () => {
  await mail('Sign in', 'Your verification code is 482913.')
  const code = (...more: string[]) => ams(env, ['code', '--from', 'example.com', '--seconds', '1', ...more])
  const none = 'ams: no such code came in time; one of a sender that is not proven needs --unproven\n'
  expect(await code()).toMatchObject({ code: 1, stdout: '', stderr: none })
  expect(await code('--unproven')).toMatchObject({ code: 0, stdout: '482913\n' })
  expect((await code('--unproven')).code).toBe(1)
  await mail('Sign in', 'Your verification code is 775512.')
  expect(await code('--unproven', '--as', 'CODE')).toMatchObject({ code: 0, stdout: '' })
  const { body } = await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, { names: ['CODE'] })
  expect(body).toEqual({ CODE: '775512' })
  await agent.api('DELETE', `/agents/${agent.id}/secrets/CODE`)
})

describe('secrets', () => {
  test('are set from standard input, listed by name, and deleted', async () => {
    expect(await ams(env, ['secrets', 'set', 'API_KEY'], 'sk_live_1234\n')).toMatchObject({
      code: 0,
      stdout: '',
    })
    const { body } = await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, {})
    expect(body).toMatchObject({ API_KEY: 'sk_live_1234' })
    const { stdout } = await ams(env, ['secrets', 'list'])
    expect(stdout).toMatch(/^API_KEY {2}set by agent|^API_KEY set by agent/)
    expect(stdout).not.toContain('sk_live')
    expect((await ams(env, ['secrets', 'delete', 'API_KEY'])).code).toBe(0)
    expect((await ams(env, ['secrets', 'list'])).stdout).toBe('')
    expect((await ams(env, ['secrets', 'delete', 'API_KEY'])).code).toBe(4)
  })
})

describe('completions', () => {
  const complete = (script: string, words: string): string =>
    execFileSync(
      'bash',
      [
        '-c',
        `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _ams; echo "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    ).trim()

  test('bash completes commands, their words and their options', async () => {
    const { stdout } = await ams({}, ['completion', 'bash'])
    expect(complete(stdout, 'ams me')).toBe('messages')
    expect(complete(stdout, 'ams secrets l')).toBe('list')
    expect(complete(stdout, 'ams listen --f')).toBe('--forward --from')
  })

  test('those of zsh and fish name every command', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { code, stdout } = await ams({}, ['completion', shell])
      expect(code).toBe(0)
      for (const name of ['login', 'listen', 'run', 'mcp']) expect(stdout).toContain(name)
    }
  })
})

test('the credentials are never part of what is printed', async () => {
  const texts = await Promise.all([
    ams(env, ['whoami', '--json']),
    ams({ ...env, AMS_URL: `${service.http}/x` }, ['whoami']),
  ])
  for (const { stdout, stderr } of texts) expect(stdout + stderr).not.toContain(agent.token)
  expect(readFileSync(join(home, 'config', 'ams', 'credentials.json'), 'utf8')).toContain(agent.token)
})

test('import imports the mails of a folder, names what it skips, and changes nothing the second time', async () => {
  const folder = join(home, 'mails')
  for (const each of ['cur', 'new', 'tmp']) mkdirSync(join(folder, 'Maildir', each), { recursive: true })
  const letter = (subject: string) =>
    `From: bo@example.com\nSubject: ${subject}\nDate: Tue, 2 Jan 2024 15:04:05 +0000\n\nFrom here\n\nFrom there Tue Jan  2 15:04:05 2024\n`
  writeFileSync(join(folder, 'one.eml'), letter('imported 1'))
  writeFileSync(join(folder, 'Maildir', 'cur', '1.host:2,S'), letter('imported 2'))
  writeFileSync(join(folder, 'nothing.eml'), 'no mail')
  writeFileSync(join(folder, 'notes.txt'), 'no mail')
  const quoted = letter('imported 3').replaceAll(/^From (?=[ht])/gm, '>From ')
  writeFileSync(join(folder, 'archive.mbox'), `From - Tue Jan  2 15:04:05 2024\n${quoted}\n`)
  const first = await ams(env, ['import', folder, '--json'])
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(first.stdout)).toEqual({
    imported: 3,
    duplicates: 0,
    skippedCount: 2,
    skipped: [
      { name: join(folder, 'notes.txt'), reason: 'is neither a mail (.eml) nor an mbox' },
      { name: join(folder, 'nothing.eml'), reason: 'is not a mail: it has no header' },
    ],
  })
  const again = await ams(env, ['import', folder])
  expect(again.stdout).toBe('0 imported, 3 known already, 2 skipped\n')
  const { body } = await agent.api('GET', `/agents/${agent.id}/messages?status=imported`)
  const texts = body.items.map(({ text }: { text: string }) => text)
  expect(texts).toEqual(Array(3).fill('From here\n\nFrom there Tue Jan  2 15:04:05 2024'))
  const missing = join(home, 'nowhere')
  const stderr = `ams: There is no file or folder ${missing}.\n`
  expect(await ams(env, ['import', missing])).toMatchObject({ code: 4, stderr })
  const sending = ['send', '--to', 'ann@example.com', '--attach', missing, 'Hi']
  expect(await ams(env, sending)).toMatchObject({ code: 1, stderr })
})

test('a URL without its scheme is named by the variable that has it', async () => {
  const { code, stderr } = await ams({ ...env, AMS_URL: 'localhost:4000' }, ['messages'])
  expect([code, stderr]).toEqual([
    2,
    'ams: AMS_URL is localhost:4000: it must begin with http:// or https://.\n',
  ])
})

test('with nobody at the URL it says at once that it waits, also in JSON, and listen goes on waiting', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const away = { ...env, AMS_URL: `http://127.0.0.1:${port}` }
  const [plain, json] = [startAms(away, ['messages']), startAms(away, ['listen', '--json'])]
  await plain.said(
    `waiting for the service (Ctrl-C ends this): Cannot reach http://127.0.0.1:${port}: ECONNREFUSED`,
  )
  await json.said('"waiting":{"code":"unreachable"')
  endAms()
})
