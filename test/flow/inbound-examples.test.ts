import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { MAIL_SERVER, proves } from '../support/domain.ts'
import { SECRET } from '../support/inbound-http.ts'
import { newest } from '../support/letter.ts'
import { dkimKey, rawOf } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** The examples of docs/email.md, run as they are written there. */

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'email.md'), 'utf8')
/** Returns the first code block of a language that contains a text. */
const block = (language: string, says: string): string =>
  [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].find(
    ([, of, text]) => of === language && text!.includes(says),
  )![2]!

const signer = dkimKey('signed.example')
const dir = temporaryDir()
const script = join(dir, 'to-agents')
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  const zone = {
    ...proves('example.com'),
    [signer.name]: { TXT: [signer.txt] },
    '_dmarc.signed.example': { TXT: ['v=DMARC1; p=reject'] },
  }
  service = await startService({
    environment: { INBOUND_SECRET: SECRET },
    world: { resolver: fakeResolver(zone) },
  })
  owner = await service.workspace('Acme', 'owner@example.com')
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, {
    admit: 'list',
    senders: ['owner@example.com', 'ann@signed.example'],
  })
  writeFileSync(script, block('sh', 'to-agents SENDER'))
  chmodSync(script, 0o755)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

describe.skipIf(!has('curl') || !has('openssl'))('the pipe for Postfix in docs/email.md', () => {
  const pipe = (args: string[], raw: Buffer | string, environment = {}): Promise<number | null> => {
    const env = { PATH: process.env.PATH, SERVICE_URL: service.http, INBOUND_SECRET: SECRET, ...environment }
    const child = spawn(script, args, { env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'ignore', 'ignore'] })
    child.stdin.end(raw)
    return new Promise((resolve) => child.once('exit', resolve))
  }

  test('hands over a message with the data that SPF needs', async () => {
    const raw = `From: owner@example.com\nTo: ${agent.address}\nSubject: By a pipe\nMessage-ID: <pipe@example.com>\n\nhello\n`
    expect(await pipe(['owner@example.com', agent.address, MAIL_SERVER, 'mail.example.com'], raw)).toBe(0)
    expect(await newest(agent)).toMatchObject([{ subject: 'By a pipe', status: 'received', text: 'hello' }])
  })

  test('preserves a DKIM signature although a pipe has no carriage returns', async () => {
    const raw = await rawOf({
      from: 'ann@signed.example',
      to: agent.address,
      subject: 'Signed',
      text: 'hello\n\nthere  \n',
      sign: signer,
    })
    expect(await pipe(['ann@signed.example', agent.address], raw.toString().replaceAll('\r\n', '\n'))).toBe(0)
    const [message] = await newest(agent)
    expect(message).toMatchObject({ subject: 'Signed', status: 'received' })
    expect(message.checks).toContainEqual(expect.objectContaining({ name: 'dkim', verdict: 'pass' }))
  })

  test('hands over a bounce without a sender', async () => {
    expect(
      await pipe(['', agent.address], 'From: postmaster@example.com\nSubject: Undelivered\n\nsorry\n'),
    ).toBe(0)
    expect(await newest(agent)).toMatchObject([{ subject: 'Undelivered', refusal: 'self' }])
  })

  test('returns the exit status that Postfix needs for a message that is not accepted', async () => {
    const raw = 'From: owner@example.com\n\nhello\n'
    // EX_NOUSER: Postfix bounces the message.
    expect(await pipe(['owner@example.com', 'nobody@agents.localhost'], raw)).toBe(67)
    expect(await pipe(['owner@example.com', agent.address], '')).toBe(65) // EX_DATAERR
    // EX_TEMPFAIL: Postfix retries later.
    expect(
      await pipe(['owner@example.com', agent.address], raw, { INBOUND_SECRET: 'another-secret-of-16' }),
    ).toBe(75)
    expect(await pipe(['owner@example.com', agent.address], raw, { SERVICE_URL: 'http://127.0.0.1:9' })).toBe(
      75,
    )
  })
})

describe('the worker for Cloudflare in docs/email.md', () => {
  const work = async (to: string, raw: string, environment = {}) => {
    const source = block('js', 'async email(message')
    const { default: worker } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
    const rejections: string[] = []
    const message = {
      from: 'owner@example.com',
      to,
      raw: new Blob([raw]).stream(),
      setReject: (reason: string) => rejections.push(reason),
    }
    await worker.email(message, { SERVICE_URL: service.http, INBOUND_SECRET: SECRET, ...environment })
    return rejections
  }

  test('hands over a message', async () => {
    expect(
      await work(agent.address, 'From: owner@example.com\r\nSubject: By a worker\r\n\r\nhellö\r\n'),
    ).toEqual([])
    expect(await newest(agent)).toMatchObject([{ subject: 'By a worker', text: 'hellö' }])
  })

  test('rejects an unknown recipient and fails with an error on what may work later', async () => {
    const raw = 'From: owner@example.com\r\n\r\nhello\r\n'
    expect(await work('nobody@agents.localhost', raw)).toEqual(['No such recipient here'])
    await expect(work(agent.address, raw, { INBOUND_SECRET: 'another-secret-of-16' })).rejects.toThrow(
      'answered 403',
    )
  })
})
