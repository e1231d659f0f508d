import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endAms, startProgram } from '../../support/ams.ts'
import { newest, post } from '../../support/letter.ts'
import { temporaryDir } from '../../support/postgres.ts'
import { hasMypy, hasPython, hasVenv, PYTHON_CLIENT, python, startPython } from '../../support/python.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

const here = (name: string) => join(import.meta.dirname, name)
const root = join(import.meta.dirname, '..', '..', '..')
const sources = join(PYTHON_CLIENT, 'agent_messaging')
const dir = temporaryDir()
afterAll(() => {
  endAms()
  rmSync(dir, { recursive: true, force: true })
})

test('every operation of the API that is JSON is a method of the package', () => {
  const written = readdirSync(sources)
    .filter((name) => name.endsWith('.py') && name !== 'api.py')
    .map((name) => readFileSync(join(sources, name), 'utf8'))
    .join('\n')
  const printed = [...readFileSync(join(sources, 'api.py'), 'utf8').matchAll(/^def (\w+)/gm)]
  expect(printed.length).toBeGreaterThan(80)
  const missing = printed
    .map(([, name]) => name)
    .filter((name) => !new RegExp(`\\bapi\\.${name}\\b`).test(written))
  expect(missing).toEqual([])
})

test('it has the version of the JavaScript client, and needs nothing but the standard library', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'src', 'client', 'package.json'), 'utf8'))
  expect(readFileSync(join(sources, '_http.py'), 'utf8')).toContain(`\nVERSION = "${version}"\n`)
  expect(readFileSync(join(PYTHON_CLIENT, 'pyproject.toml'), 'utf8')).toMatch(/^requires = \[\]$/m)
})

describe.skipIf(!hasPython)('with Python', () => {
  test('threads, tasks, time, connections and files', async () => {
    const { code, stderr } = await python({}, [here('test_core.py')])
    expect(stderr).toMatch(/\nOK\n$/)
    expect(code).toBe(0)
  })

  test('a command whose output nobody reads any more ends quietly', async () => {
    const program = [
      'import os, sys',
      'from agent_messaging import __main__ as commands',
      "commands._code = lambda *_: print('1', flush=True)",
      'reading, writing = os.pipe()',
      'os.close(reading)',
      'os.dup2(writing, 1)',
      "sys.exit(commands.main(['code']))",
    ]
    const env = { AMS_URL: 'http://127.0.0.1:1', AMS_TOKEN: 'aat_none' }
    const { code, stderr } = await python(env, ['-c', program.join('\n')])
    expect([code, stderr]).toEqual([0, ''])
  })

  test.skipIf(!hasMypy)('its types are strict, and know what blocks and what is awaited', async () => {
    const run = (...args: string[]) =>
      startProgram('mypy', { MYPYPATH: PYTHON_CLIENT, HOME: dir }, [
        '--strict',
        '--cache-dir',
        join(dir, 'mypy'),
        ...args,
      ])
    const { stdout, code } = await run(sources, here('typed.py')).exited
    expect(stdout).toMatch(/^Success: /)
    expect(code).toBe(0)
  })

  describe('proxies and certificates come from the environment', () => {
    const servers: Server[] = []
    const listen = async (server: Server): Promise<number> => {
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return (server.address() as AddressInfo).port
    }
    afterAll(() => {
      for (const server of servers) server.close()
    })
    let secure: number
    let plain: number
    let proxy: number
    const asked: string[] = []
    const trusted = join(dir, 'ca.pem')
    beforeAll(async () => {
      const pair = await generate([{ name: 'commonName', value: 'ams.example' }], {
        keyType: 'ec',
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
      })
      writeFileSync(trusted, pair.cert)
      const answer = JSON.stringify([{ name: 'A' }])
      secure = await listen(
        createSecureServer({ cert: pair.cert, key: pair.private }, (_, response) => response.end(answer)),
      )
      plain = await listen(createServer((_, response) => response.end(answer)))
      const forwarding = createServer((incoming, response) => {
        asked.push(`${incoming.method} ${incoming.headers['proxy-authorization']}`)
        const { 'proxy-authorization': _, ...headers } = incoming.headers
        httpRequest(incoming.url!, { headers }, (answered) => answered.pipe(response)).end()
      })
      forwarding.on('connect', (incoming, socket) => {
        asked.push(`CONNECT ${incoming.headers['proxy-authorization']}`)
        const [host, port] = incoming.url!.split(':') as [string, string]
        const target = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
        target.on('error', () => socket.destroy()).pipe(socket)
        socket.on('error', () => target.destroy()).pipe(target)
      })
      proxy = await listen(forwarding)
    })

    const ask = async (url: string, env: Record<string, string>) => {
      const program = `import asyncio, sys
from agent_messaging import Agent, AmsError, AsyncAgent
given = {"url": sys.argv[1], "token": "t", "id": "A", "retries": 0}
for ask in (lambda: Agent(**given).secrets.list(), lambda: asyncio.run(AsyncAgent(**given).secrets.list())):
    try:
        print(ask()[0]["name"])
    except AmsError as error:
        print(error.code, error.message)
`
      const { stdout, stderr } = await python(env, ['-c', program, url])
      expect(stderr).toBe('')
      return stdout.trim().split('\n')
    }

    test('a certificate is trusted only if the environment names its authority', async () => {
      const url = `https://127.0.0.1:${secure}`
      expect(await ask(url, { SSL_CERT_FILE: trusted })).toEqual(['A', 'A'])
      for (const said of await ask(url, {})) expect(said).toMatch(/^unreachable .*self.signed certificate/)
    })

    test('a proxy gets its own credentials, and a tunnel for https', async () => {
      const env = (name: string) => ({
        [name]: `http://me:p%40ss@127.0.0.1:${proxy}`,
        SSL_CERT_FILE: trusted,
      })
      const credentials = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
      asked.length = 0
      expect(await ask(`https://127.0.0.1:${secure}`, env('HTTPS_PROXY'))).toEqual(['A', 'A'])
      expect(await ask(`http://127.0.0.1:${plain}`, env('http_proxy'))).toEqual(['A', 'A'])
      const expected = [`CONNECT ${credentials}`, `GET ${credentials}`]
      expect(asked).toEqual(expected.flatMap((one) => [one, one]))
      const direct = { ...env('http_proxy'), no_proxy: '127.0.0.1' }
      expect(await ask(`http://127.0.0.1:${plain}`, direct)).toEqual(['A', 'A'])
      expect(asked).toHaveLength(4)
    })
  })

  describe('at a service', () => {
    let service: SharedService
    let owner: Tenant
    beforeAll(async () => {
      service = await sharedService()
      owner = await service.workspace()
    })
    const createOpenAgent = async () => {
      const agent = await createTestAgent(service, owner)
      await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
      return { agent, env: { AMS_URL: service.http, AMS_TOKEN: agent.token } }
    }
    const isConnected = async (agent: TestAgent) =>
      (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0
    const mail = (agent: TestAgent, subject: string) =>
      post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'the text' })

    test('messages, drafts, secrets, files, pages and positions', async () => {
      const { agent, env } = await createOpenAgent()
      await mail(agent, 'Where is it?')
      const { stdout, stderr } = await python({ ...env, HOME: dir }, [here('tour.py')])
      expect({ stdout, stderr }).toEqual({ stdout: 'done\n', stderr: '' })
    })

    test('python3 -m agent_messaging sends, and prints a line for each message, from where it stopped', {
      timeout: 60_000,
    }, async () => {
      const { agent, env } = await createOpenAgent()
      const command = (...args: string[]) => ['-m', 'agent_messaging', ...args]
      const position = join(dir, 'cli.position')
      const listening = startPython(env, command('listen', '--position', position))
      await until(() => isConnected(agent))
      await mail(agent, 'First \u001b[31mred')
      await listening.said('First')
      listening.child.kill('SIGTERM')
      const { code, stdout, stderr } = await listening.exited
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(/ann@example\.com First {2}\[31mred \S{36}\n$/),
      })
      await mail(agent, 'Second')
      const second = await python(env, command('listen', '--position', position, '--json', '--count', '1'))
      const { event, message } = JSON.parse(second.stdout)
      expect(message).toMatchObject({ subject: 'Second', id: event.messageId })
      const reply = await python(env, command('send', '--reply-to', message.id, '-'), 'On its way.')
      expect(await newest(agent)).toMatchObject([
        { id: reply.stdout.trim(), text: expect.stringContaining('On its way.') },
      ])
      const refused = await python({ ...env, AMS_TOKEN: `aat_${'x'.repeat(43)}` }, command('send', 'x'))
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^agent_messaging: .+\n$/),
      })
    })

    test.skipIf(!hasVenv)(
      'five lines in an empty environment, installed offline, answer a mail',
      { timeout: 240_000 },
      async () => {
        for (const folder of ['one', 'two']) {
          const built = await python({}, [join(PYTHON_CLIENT, 'build_package.py'), dir])
          expect(built.stdout.trim().split('\n')).toEqual(
            readdirSync(dir)
              .filter((name) => name.startsWith('agent_messaging'))
              .sort(),
          )
          const environment = join(dir, folder)
          await startProgram('python3', {}, ['-m', 'venv', environment]).exited
          const package_ = built.stdout.split('\n')[folder === 'one' ? 0 : 1]!
          const pip = [
            join(environment, 'bin', 'python'),
            '-m',
            'pip',
            'install',
            '--no-index',
            join(dir, package_),
          ]
          const installed = await startProgram(pip[0]!, { HOME: dir }, pip.slice(1)).exited
          expect(installed).toMatchObject({
            code: 0,
            stdout: expect.stringContaining('Successfully installed agent-messaging-'),
          })
        }
        const { agent, env } = await createOpenAgent()
        const running = startProgram(join(dir, 'one', 'bin', 'python'), env, [here('five_lines.py')])
        await until(() => isConnected(agent))
        await mail(agent, 'Lamp')
        await until(async () => (await newest(agent))[0]?.direction === 'outbound')
        expect((await newest(agent))[0]).toMatchObject({ text: expect.stringContaining('You wrote: Lamp') })
        running.child.kill('SIGKILL')
      },
    )
  })
})
