import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ams, endAms, startAms } from '../../support/ams.ts'
import { post } from '../../support/letter.ts'
import { temporaryDir } from '../../support/postgres.ts'
import { createReceiver } from '../../support/receiver.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

const home = temporaryDir()
const at = (name: string) => join(home, name)
let service: SharedService
let owner: Tenant
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
})
afterAll(() => {
  endAms()
  rmSync(home, { recursive: true, force: true })
})

const createOpenAgent = async () => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const env = { HOME: home, AMS_URL: service.http, AMS_TOKEN: agent.token }
  return { agent, env }
}
const mail = (agent: TestAgent, subject: string) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'the text' })

/** `ams listen`, once it is connected. */
const listening = async (agent: TestAgent, env: Record<string, string>, ...args: string[]): Promise<Ams> => {
  const process = startAms(env, ['listen', ...args])
  await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0)
  return process
}
const stop = (process: Ams, signal: NodeJS.Signals = 'SIGTERM') => {
  process.child.kill(signal)
  return process.exited
}
const linesOf = (file: string): string[] =>
  existsSync(at(file)) ? readFileSync(at(file), 'utf8').trim().split('\n') : []

test('--types adds what else happened to messages', async () => {
  const { agent, env } = await createOpenAgent()
  await owner.api('PATCH', `/agents/${agent.id}`, { eventTypes: ['message.sent', 'message.held'] })
  const types = ['--types', 'message.received, message.held']
  const process = await listening(agent, env, ...types, '--json')
  await mail(agent, 'First')
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  await agent.api('POST', `/agents/${agent.id}/messages`, {
    ...{ channel: 'email', to: ['bo@example.com'], subject: 'Later', text: 'hi', sendAt },
  })
  await process.said('Later')
  const lines = (await stop(process)).stdout.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: { type: 'message.received' }, message: { subject: 'First' } },
    {
      event: { type: 'message.held', hold: { reason: 'schedule', until: sendAt } },
      message: { subject: 'Later' },
    },
  ])
})

test('each message is a line, or JSON; a signal ends it with exit code 0', async () => {
  const { agent, env } = await createOpenAgent()
  const process = await listening(agent, env)
  await mail(agent, 'First')
  await process.said('First')
  expect(await stop(process)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/<- ann@example\.com First /),
  })
  const again = await listening(agent, env, '--json', '--from', 'beginning')
  await again.said('\n')
  const { stdout } = await stop(again, 'SIGINT')
  expect(JSON.parse(stdout)).toMatchObject({
    event: { id: 1 },
    message: { subject: 'First', text: 'the text' },
  })
})

test('when another client connects, it ends with exit code 6', async () => {
  const { agent, env } = await createOpenAgent()
  const process = await listening(agent, env)
  await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'other', machine: 'm' })
  expect(await process.exited).toMatchObject({ code: 6, stderr: expect.stringContaining('Another client') })
})

test('--exec gets the event as JSON and in its environment, and is repeated until it succeeds', async () => {
  const { agent, env } = await createOpenAgent()
  const command = `echo "$AMS_EVENT_ID $AMS_CHANNEL $AMS_FROM $AMS_SUBJECT" >> '${at('tried')}'; cat >> '${at('stdin')}'; test -e '${at('ready')}'`
  const process = await listening(agent, env, '--exec', command)
  await mail(agent, 'One; $(touch /tmp/never)')
  await mail(agent, 'Two')
  await process.said('exited with 1 for event 1; retrying')
  writeFileSync(at('ready'), '')
  await until(() => linesOf('tried').at(-1)?.startsWith('2 '))
  await stop(process)
  const tried = linesOf('tried')
  expect(tried.length).toBeGreaterThan(2)
  expect(new Set(tried.slice(0, -1))).toEqual(new Set(['1 email ann@example.com One; $(touch /tmp/never)']))
  expect(tried.at(-1)).toBe('2 email ann@example.com Two')
  expect(JSON.parse(linesOf('stdin')[0]!)).toMatchObject({
    event: { id: 1 },
    message: { text: 'the text' },
  })
})

test('inside --exec, an empty variable and - mail nothing to the sender', async () => {
  const { agent, env } = await createOpenAgent()
  const main = join(import.meta.dirname, '..', '..', '..', 'dist', 'client', 'cli', 'main.js')
  const reply = `'${globalThis.process.execPath}' '${main}' reply "$AMS_MESSAGE_ID"`
  const process = await listening(
    agent,
    env,
    '--exec',
    `${reply} $NOTHING || ${reply} - || echo "refused $?"`,
  )
  await mail(agent, 'One')
  await process.said('refused 2')
  await stop(process)
  const { body } = await agent.api('GET', `/agents/${agent.id}/messages?direction=outbound`)
  expect(body.items).toEqual([])
})

test('a command that always fails, or never ends, is given up: the message is labelled and the next one comes', async () => {
  const { agent, env } = await createOpenAgent()
  const command = `echo "$AMS_SUBJECT $AMS_THREAD_ID" >> '${at('given-up')}'; case "$AMS_SUBJECT" in bad) exit 3;; slow) sleep 600 & echo $! > '${at('slow')}'; wait;; esac`
  const process = await listening(agent, env, '--exec', command, '--attempts', '2', '--timeout', '1')
  for (const subject of ['bad', 'slow', 'good']) await mail(agent, subject)
  await process.said('exited with 3 for event 1; giving up after 2 attempts')
  await process.said('took longer than 1 s for event 2; giving up after 2 attempts')
  await until(() => linesOf('given-up').length === 5)
  const { stderr } = await stop(process)
  expect(stderr).not.toContain('Warning')
  const { body } = await agent.api('GET', `/agents/${agent.id}/messages`)
  const [good, slow, bad] = body.items
  expect([good, slow, bad].map(({ labels }) => labels)).toEqual([[], ['wake-failed'], ['wake-failed']])
  const tried = [bad, bad, slow, slow, good].map(({ subject, threadId }) => `${subject} ${threadId}`)
  expect(linesOf('given-up')).toEqual(tried)
  // What the shell had started is ended too.
  const [pid] = linesOf('slow')
  await until(
    () => !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '',
  )
})

test('--parallel handles several threads at once, and each in order', async () => {
  const { agent, env } = await createOpenAgent()
  const command = `echo "start $AMS_SUBJECT" >> '${at('lanes')}'; until test -e '${at('go')}'; do sleep 0.1; done; echo "end $AMS_SUBJECT" >> '${at('lanes')}'`
  const process = await listening(agent, env, '--exec', command, '--parallel', '3')
  const first = { from: 'ann@example.com', to: agent.address, text: 'x' }
  const id = (name: string) => ({ 'Message-ID': `<${name}@example.com>` })
  await post(service, { ...first, subject: 'a1', headers: id('a1') })
  await post(service, {
    ...first,
    subject: 'a2',
    headers: { ...id('a2'), 'In-Reply-To': '<a1@example.com>' },
  })
  await post(service, { ...first, subject: 'b1', headers: id('b1') })
  await until(() => linesOf('lanes').length === 2)
  expect(linesOf('lanes').sort()).toEqual(['start a1', 'start b1'])
  writeFileSync(at('go'), '')
  await until(() => linesOf('lanes').length === 6)
  expect((await stop(process)).code).toBe(0)
  const ofA = linesOf('lanes').filter((line) => / a/.test(line))
  expect(ofA).toEqual(['start a1', 'end a1', 'start a2', 'end a2'])
})

test('--exec goes on where it stopped, also after kill -9; --from overrides that', async () => {
  const { agent, env } = await createOpenAgent()
  const command = `echo "$AMS_SUBJECT" >> '${at('handled')}'`
  const first = await listening(agent, env, '--exec', command)
  await mail(agent, 'a')
  await until(() => linesOf('handled').length === 1)
  const folder = at('.local/state/ams')
  const file = () => readdirSync(folder).filter((name) => name.includes(agent.id))
  await until(() => readFileSync(join(folder, file()[0]!), 'utf8') === '1\n')
  expect(statSync(join(folder, file()[0]!)).mode & 0o777).toBe(0o600)
  await stop(first, 'SIGKILL')
  await mail(agent, 'b')
  const second = startAms(env, ['listen', '--exec', command])
  await until(() => linesOf('handled').length === 2)
  await stop(second)
  const third = startAms(env, ['listen', '--exec', command, '--from', '0'])
  await until(() => linesOf('handled').length === 4)
  await stop(third)
  expect(linesOf('handled')).toEqual(['a', 'b', 'a', 'b'])
  expect(file()).toHaveLength(1)
})

test('--forward POSTs what a webhook would get, signed with the secret that it prints', async () => {
  const { agent, env } = await createOpenAgent()
  const receiver = await createReceiver()
  const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
  receiver.expect('/hook', secret)
  receiver.answer('/hook', 204, 500)
  const process = await listening(agent, env, '--forward', `${receiver.url}/hook`, '--secret', secret)
  await process.said(secret)
  await mail(agent, 'one')
  await mail(agent, 'two')
  await process.said('two')
  const { stdout } = await stop(process)
  expect(stdout).toMatch(/^204 .* one .*\n500 .* two /)
  const [first] = await receiver.got('/hook', 2)
  expect(first?.verified).toMatchObject({
    eventId: `evt_${agent.id.replaceAll('-', '')}_1`,
    name: 'message.received',
    data: { agent: { id: agent.id, name: 'Support Bot' }, message: { channel: 'email', subject: 'one' } },
    cursor: '1',
  })
  await receiver.close()
})
