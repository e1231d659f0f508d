import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { deliver } from '../support/mail.ts'
import { freePort } from '../support/port.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { hasPython, PYTHON_CLIENT } from '../support/python.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Each kills the client, the service, or both. */
const ROUNDS = Number(process.env.CLIENT_KILL_ROUNDS ?? 6)
// A round starts Node up to three times, which takes half a minute on a busy machine.
vi.setConfig({ testTimeout: 600_000 + ROUNDS * 60_000 })
const MAILS_PER_ROUND = 5

let name: string
let dataDir: string
let settings: Record<string, string>
const clients = new Set<ChildProcess>()
beforeEach(async () => {
  name = `client_kill_${randomBytes(6).toString('hex')}`
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  dataDir = temporaryDir()
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(inject('postgres').url, name),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    PORT: String(await freePort()), // the client finds each service in the same place
  }
})
afterEach(async () => {
  for (const client of clients) client.kill('SIGKILL')
  await cleanUp(dataDir)
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

const built = (file: string) =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'client', file)).href)

/** Writes down what it does: H when it has a message in hand, D when that is done. */
const JAVASCRIPT = `import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from ${built('index.js')}
import { fileStore } from ${built('node.js')}
const write = (line) => appendFileSync('journal', line + '\\n')
for await (const { message, done } of new Agent().messages({ store: fileStore('position') })) {
  write('H ' + message.subject)
  await sleep(Math.random() * 100)
  await done()
  write('D ' + message.subject)
}`
const PYTHON = `import random, time
from agent_messaging import Agent, FileStore

def write(line):
    with open("journal", "a") as journal:
        journal.write(line + "\\n")

for message in Agent().messages(store=FileStore("position")):
    write("H " + message.subject)
    time.sleep(random.random() * 0.1)
    message.done()
    write("D " + message.subject)
`
const PYTHON_ASYNC = PYTHON.replace('import random, time', 'import asyncio, random')
  .replace('import Agent', 'import AsyncAgent')
  .replace('for message in Agent()', 'async def main():\n  async for message in AsyncAgent()')
  .replace('time.sleep', 'await asyncio.sleep')
  .replace('message.done()', 'await message.done()')
  .concat('\nasyncio.run(main())\n')

const LANGUAGES: [language: string, program: string, file: string, text: string][] = [
  ['JavaScript', process.execPath, 'client.mjs', JAVASCRIPT],
  ...(hasPython
    ? ([
        ['Python', 'python3', 'client.py', PYTHON],
        ['Python with asyncio', 'python3', 'client_async.py', PYTHON_ASYNC],
      ] satisfies [string, string, string, string][])
    : []),
]

const startService = async () => {
  const service = run(settings)
  return { service, ...(await service.ready()) }
}

const startClient = (program: string, file: string, env: Record<string, string>): ChildProcess => {
  const { PATH = '' } = process.env
  const client = spawn(program, [file], {
    cwd: dataDir,
    env: { PATH, PYTHONPATH: PYTHON_CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  clients.add(client)
  client.on('close', () => clients.delete(client))
  return client
}

const journal = (): string[] => {
  const file = join(dataDir, 'journal')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
const subjectsOf = (kind: 'H' | 'D') =>
  journal()
    .filter((line) => line.startsWith(kind))
    .map((line) => line.slice(2))

test.each(LANGUAGES)(
  'kill -9 of client (%s) and service in turn: every message is handled, and repeated only if it was not done',
  async (language, program, file, text) => {
    writeFileSync(join(dataDir, file), text)
    let running = await startService()
    const owner = apiOf(running.http, settings.OWNER_TOKEN!)
    const { body: agent } = await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })
    const [{ value: to }] = (await owner('GET', `/agents/${agent.id}/addresses`)).body
    await owner('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    const { token } = (await owner('POST', `/agents/${agent.id}/tokens`, {})).body
    const env = { AMS_URL: running.http, AMS_TOKEN: token }
    let client = startClient(program, file, env)
    await until(() => existsSync(join(dataDir, 'position')))

    const sent: string[] = []
    const start = Date.now()
    for (let round = 0; round < ROUNDS; round++) {
      const before = journal().length
      for (let n = 0; n < MAILS_PER_ROUND; n++) {
        const subject = `mail ${round}.${n}`
        await deliver(running.smtp, { from: `s${sent.length}@example.com`, to, subject, text: 'hi' })
        sent.push(subject)
      }
      await until(() => journal().length > before) // so that it is killed in the middle of its work
      if (round % 3 !== 1) client.kill('SIGKILL')
      if (round % 3 !== 0) {
        running.service.kill('SIGKILL')
        await running.service.exited
        running = await startService()
      }
      if (round % 3 !== 1) client = startClient(program, file, env)
    }
    const seconds = Math.round((Date.now() - start) / 1000)
    // The agent's only events are those of its mails, numbered from 1.
    await until(() => Number(readFileSync(join(dataDir, 'position'), 'utf8')) === sent.length)

    const handled = subjectsOf('H')
    expect(new Set(handled)).toEqual(new Set(sent))
    const lines = journal()
    for (const subject of subjectsOf('D'))
      expect(lines.lastIndexOf(`H ${subject}`), subject).toBeLessThan(lines.indexOf(`D ${subject}`))
    // A client that is killed right after a message is done does not write that down.
    expect(new Set(subjectsOf('D')).size).toBeGreaterThanOrEqual(sent.length - ROUNDS)
    process.stdout.write(
      `client-kill, ${language}: ${sent.length} messages, ${ROUNDS} rounds in ${seconds} s, ${handled.length - sent.length} repeats\n`,
    )
  },
)
