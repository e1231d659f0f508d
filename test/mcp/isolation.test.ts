import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TOOL_NAMES } from '../../src/mcp/tools.ts'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'
import { receive } from '../support/letter.ts'
import { postRpc } from '../support/mcp.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** Who may do what with which tool: nine callers, each against the agent of one of them. */

const receiver = await createReceiver()
afterAll(() => receiver.close())

let service: SharedService
let owner: Tenant
let foreign: Tenant
let target: TestAgent
let peer: TestAgent
let theirs: TestAgent
let messageId: string
let draftId: string
const tokens: Record<string, string | null> = { 'no token': null, garbage: 'amt_garbage' }

/** What each tool is called with, about the target; members name it. */
const ARGUMENTS: Record<string, () => Record<string, unknown>> = {
  whoami: () => ({}),
  list_messages: () => ({}),
  read_message: () => ({ messageId }),
  read_thread: () => ({ messageId }),
  get_attachment: () => ({ messageId, attachmentId: 0 }),
  reply: () => ({ messageId, text: 'hi' }),
  send_message: () => ({ channel: 'email', to: ['bo@example.com'], text: 'hi' }),
  forward_message: () => ({ messageId, to: ['bo@example.com'] }),
  list_drafts: () => ({ draftId }),
  update_draft: () => ({ draftId, do: 'save', text: 'hello' }),
  send_to_agent: () => ({
    url: `${service.http.replace('127.0.0.1', 'localhost')}/a/${target.id}`,
    text: 'hi',
  }),
  wait_for_messages: () => ({ cursor: '0', seconds: 1 }),
  wait_for_code: () => ({ seconds: 0 }),
  ask_member: () => ({ text: 'Refund?', seconds: 0 }),
  update_message: () => ({ ids: [messageId], read: true }),
  list_secrets: () => ({}),
  create_agent: () => ({ name: 'New' }),
}
/** Whom they are about is in what they are called with. */
const NAMES_NOBODY = ['send_to_agent', 'create_agent']
/** What an agent calls without naming a message is about itself. */
const ABOUT_ITSELF = [
  'whoami',
  'list_messages',
  'send_message',
  'wait_for_messages',
  'ask_member',
  'list_secrets',
]

beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace('Owner')
  foreign = await service.workspace('Foreign')
  target = await createTestAgent(service, owner, 'Target')
  peer = await createTestAgent(service, owner, 'Peer')
  theirs = await createTestAgent(service, foreign, 'Theirs')
  await owner.api('PUT', `/agents/${target.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('POST', `/agents/${target.id}/webhooks`, { url: `${receiver.url}/hook` })
  await owner.api('PUT', `/agents/${target.id}/secrets/KEY`, { value: 'v' })
  const letter = {
    from: 'ann@example.com',
    to: target.address,
    text: 'secret plan',
    attachments: [{ filename: 'a.txt', content: 'a' }],
  }
  messageId = (await receive(service, target, letter)).id
  const draft = { channel: 'email', to: ['bo@example.com'], text: 'secret plan' }
  draftId = (await owner.api('POST', `/agents/${target.id}/drafts`, draft)).body.id
  const revoked = (await owner.api('POST', `/agents/${target.id}/tokens`, {})).body
  await owner.api('DELETE', `/agents/${target.id}/tokens/${revoked.id}`)
  tokens.revoked = revoked.token
  tokens.expired = newToken('agent')
  await service.db.pool.query(
    'insert into token (id, workspace_id, agent_id, hash, expires_at) values ($1, $2, $3, $4, $5)',
    [randomUUID(), owner.id, target.id, hashToken(tokens.expired), new Date(Date.now() - 1_000)],
  )
})

const call = async (token: string | null, name: string, args: Record<string, unknown>) => {
  const { status, body } = await postRpc(service.http, token, 'tools/call', { name, arguments: args })
  return {
    status,
    body,
    error: body?.result && JSON.parse(body.result.content[0].text).error,
    isError: body?.result?.isError === true,
    text: JSON.stringify(body),
  }
}
const asMember = (name: string, agentId: string) => ({
  ...ARGUMENTS[name]!(),
  ...(NAMES_NOBODY.includes(name) ? {} : { agentId }),
})

test('every tool has its row', () => {
  expect(Object.keys(ARGUMENTS).sort()).toEqual([...TOOL_NAMES].sort())
})

describe.each(['no token', 'garbage', 'revoked', 'expired'])('with %s', (kind) => {
  test.each(TOOL_NAMES)('%s is 401', async (name) => {
    expect((await call(tokens[kind]!, name, ARGUMENTS[name]!())).status).toBe(401)
  })
})

describe.each(TOOL_NAMES)('%s', (name) => {
  test('the agent itself and a member of its workspace may', async () => {
    const { error, isError } = await call(target.token, name, ARGUMENTS[name]!())
    // No code was sent to it.
    if (name === 'wait_for_code') return expect(error.code).toBe('not_found')
    // The target is not on its own Message URL's list.
    if (name === 'send_to_agent') expect(error.code).toBe('forbidden')
    else expect({ isError, error }).toEqual({ isError: false, error: undefined })
    const member = await call(owner.token, name, asMember(name, target.id))
    expect({ isError: member.isError, error: member.error }).toEqual({ isError: false, error: undefined })
  })

  test('another agent of the workspace sees only itself', async () => {
    const { text, error, isError } = await call(peer.token, name, ARGUMENTS[name]!())
    expect(text).not.toContain('secret plan')
    if (name === 'send_to_agent') expect(error.code).toBe('forbidden')
    else if (name === 'create_agent' || ABOUT_ITSELF.includes(name)) expect(isError).toBe(false)
    else expect(['not_found', 'invalid_input']).toContain(error.code)
    // Naming somebody else is no argument that an agent has.
    if (!NAMES_NOBODY.includes(name))
      expect((await call(peer.token, name, asMember(name, target.id))).error.message).toMatch(/^agentId: /)
  })

  test("another workspace's member and agent are told what somebody is told who asks for what there is not", async () => {
    if (name === 'create_agent')
      return expect((await call(foreign.token, name, ARGUMENTS[name]!())).isError).toBe(false)
    if (name === 'send_to_agent') {
      for (const token of [foreign.token, theirs.token])
        expect((await call(token, name, ARGUMENTS[name]!())).error).toMatchObject({ code: 'not_found' })
      return
    }
    const member = await call(foreign.token, name, asMember(name, target.id))
    const missing = await call(foreign.token, name, asMember(name, randomUUID()))
    expect(member.error.code).toMatch(/not_found|invalid_input/)
    expect(member.error).toEqual(missing.error)
    const agent = await call(theirs.token, name, ARGUMENTS[name]!())
    expect(agent.text).not.toContain('secret plan')
    if (!ABOUT_ITSELF.includes(name)) expect(['not_found', 'invalid_input']).toContain(agent.error.code)
  })
})

test('the conversation of a message holds none of another agent, whoever else has messages', async () => {
  const letter = {
    from: 'bo@example.com',
    to: theirs.address,
    text: 'elsewhere',
    messageId: '<elsewhere@example.com>',
  }
  await foreign.api('PUT', `/agents/${theirs.id}/access/email`, { admit: 'anyone', senders: [] })
  const other = await receive(service, theirs, letter)
  const alone = await receive(service, target, { from: 'cy@example.com', to: target.address, text: 'alone' })
  const read = async (token: string, id: string) => {
    const { body } = await call(token, 'read_message', { messageId: id })
    return JSON.parse(body.result.content[0].text)
  }
  for (const [token, id] of [
    [target.token, alone.id],
    [theirs.token, other.id],
  ] as const) {
    const { messageId: own, thread } = await read(token, id)
    expect({ own, thread }).toEqual({ own: id, thread: undefined })
  }
})

describe('events and resources', () => {
  const event = (agentId?: string) => ({
    name: 'message.received',
    arguments: agentId ? { agentId } : {},
    cursor: '0',
  })
  const hook = {
    mode: 'webhook',
    url: 'http://127.0.0.1:9/y',
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
  }
  const METHODS: Record<string, object> = {
    'events/poll': {},
    'events/stream': {},
    'events/subscribe': { delivery: hook },
    'events/unsubscribe': { delivery: { mode: 'webhook', url: hook.url } },
  }

  test.each(Object.keys(METHODS))(
    "%s of another's agent is Forbidden within the workspace, else NotFound as for one that there is not",
    async (method) => {
      const ask = async (token: string, agentId: string) => {
        const { body } = await postRpc(service.http, token, method, { ...event(agentId), ...METHODS[method] })
        return body.error
      }
      expect(await ask(peer.token, target.id)).toMatchObject({ code: -32012 })
      for (const token of [foreign.token, theirs.token]) {
        const error = await ask(token, target.id)
        expect(error).toMatchObject({ code: -32011 })
        expect(error).toEqual(await ask(token, randomUUID()))
      }
    },
  )

  test('an inbox is read and followed by who may, and unknown to everybody else', async () => {
    const uri = `inbox://${target.id}`
    const read = (token: string, what = uri) => postRpc(service.http, token, 'resources/read', { uri: what })
    expect((await read(target.token)).body.result.contents[0].text).toContain('secret plan')
    expect((await read(owner.token)).body.result.contents).toHaveLength(1)
    for (const token of [peer.token, foreign.token, theirs.token]) {
      const { body } = await read(token)
      expect(body.error.message.replace(target.id, '')).toBe(
        (await read(token, 'inbox://00000000-0000-0000-0000-000000000000')).body.error.message.replace(
          /0{8}-.*0{12}/,
          '',
        ),
      )
    }
    const { body } = await postRpc(service.http, foreign.token, 'resources/list')
    expect(JSON.stringify(body)).not.toContain(target.id)
  })
})

test('nothing of all this reached what is not theirs', async () => {
  const { body } = await foreign.api('GET', '/agents')
  expect(body.map(({ name }: { name: string }) => name).sort()).toEqual(['New', 'Theirs'])
  expect((await peer.api('GET', `/agents/${peer.id}/messages`)).body.items).toHaveLength(1)
  expect((await theirs.api('GET', `/agents/${theirs.id}/messages`)).body.items).toHaveLength(2)
})
