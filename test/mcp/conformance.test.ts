import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAgent, startService } from '../support/service.ts'

/**
 * The MCP project's own conformance suite, which npx downloads into a temporary folder. It is made for a
 * server of the suite's fixture tools, prompts and resources; this server has only its own tools. So each
 * revision's table names the scenarios that apply, and the checks of those that need a fixture.
 */

const ENABLED = process.env.MCP_CONFORMANCE === '1'
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
/** The suite needs Node 22, which npx downloads too. */
const NODE = 'node@22'

/** Checks of applicable scenarios that need something this server does not have. */
const NEEDS_FIXTURE: Record<string, string> = {
  'sep-2575-server-rejects-undeclared-capability': 'the tool test_missing_capability',
  'sep-2575-missing-capability-http-400': 'the tool test_missing_capability',
  'sep-2575-http-server-no-independent-requests-on-stream': 'the tool test_streaming_elicitation',
  'sep-2575-server-no-log-without-loglevel': 'the tool test_logging_tool',
  'sep-2549-prompts-list-caching-hints': 'prompts',
}

const SCENARIOS: Record<string, readonly string[]> = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'server-session-lifecycle',
    'dns-rebinding-protection',
  ],
}

interface Check {
  id: string
  status: string
  errorMessage?: string
}

/** Passes requests on with a token, because the suite cannot send headers of its own. */
const openProxy = async (target: () => { http: string; token: string }): Promise<Server> => {
  const proxy = createServer((request, response) => {
    const { http, token } = target()
    const { hostname, port } = new URL(http)
    const headers = { ...request.headers, authorization: `Bearer ${token}` }
    const passed = forward(
      { hostname, port, path: request.url, method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

/** Runs the suite with these arguments. It exits with 1 if a check fails, so the exit code is ignored. */
const runSuite = async (folder: string, ...options: string[]): Promise<string> => {
  const { PATH = '', HOME = '' } = process.env
  const packages = [`--package=${SUITE}`, `--package=${NODE}`]
  const { stdout } = await promisify(execFile)(
    'npx',
    ['--yes', ...packages, '--', 'conformance', ...options],
    {
      cwd: folder,
      env: { PATH, HOME, npm_config_cache: join(folder, 'npm') },
      maxBuffer: 64 * 1024 * 1024,
    },
  ).catch((error: { stdout?: string }) => ({ stdout: String(error.stdout ?? error) }))
  return stdout
}

describe.skipIf(!ENABLED)(`${SUITE} (skipped without MCP_CONFORMANCE=1: it needs the npm registry)`, () => {
  const folder = ENABLED ? mkdtempSync(join(tmpdir(), 'conformance-')) : ''
  const results = new Map<string, Check[]>()
  let target = { http: '', token: '' }
  let proxy: Server
  let output = ''

  beforeAll(async () => {
    proxy = await openProxy(() => target)
    const url = `http://localhost:${(proxy.address() as AddressInfo).port}`
    const service = await startService({ environment: { RATE_LIMIT: '100000', PUBLIC_URL: url } })
    const { token } = await createTestAgent(service, await service.workspace())
    target = { http: service.http, token }
    for (const revision of Object.keys(SCENARIOS)) {
      const reports = join(folder, revision)
      output += await runSuite(
        folder,
        'server',
        ...['--url', `${url}/mcp`],
        ...['--requirements', revision],
        ...['--output-dir', reports],
      )
      for (const report of readdirSync(reports)) {
        const scenario = report.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
        const checks = JSON.parse(readFileSync(join(reports, report, 'checks.json'), 'utf8'))
        results.set(`${revision} ${scenario}`, checks)
      }
    }
  })
  afterAll(() => {
    proxy?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const all = Object.entries(SCENARIOS).flatMap(([revision, names]) => names.map((name) => [revision, name]))
  test.each(all)('%s %s', (revision, name) => {
    const checks = results.get(`${revision} ${name}`)
    expect(checks, output.slice(-2_000)).toBeDefined()
    const failed = checks!.filter(({ id, status }) => status === 'FAILURE' && !(id in NEEDS_FIXTURE))
    expect(failed).toEqual([])
    expect(checks!.filter(({ status }) => status === 'SUCCESS' || status === 'INFO')).not.toEqual([])
  })

  test('every scenario that fails otherwise asks for a fixture', () => {
    const reasons = [...results].flatMap(([key, checks]) => {
      const [revision, name] = key.split(' ') as [string, string]
      if (SCENARIOS[revision]!.includes(name) || name.startsWith('tasks-')) return []
      return checks
        .filter(({ status }) => status === 'FAILURE')
        .map(({ id, errorMessage = '' }) => ({ key, id, errorMessage }))
    })
    const needsFixture =
      /There is no tool test_|Method not found|test:\/\/|Not testable: server exposes no tool|Tool '\w+' not found|Expected InputRequiredResult|Prerequisite failed/
    expect(reasons.filter(({ errorMessage }) => !needsFixture.test(errorMessage))).toEqual([])
    expect(reasons.length).toBeGreaterThan(10)
  })
})
