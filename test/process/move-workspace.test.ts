import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The operator moves a workspace between two installations of real processes, which is killed in the middle. */

const installation = () => {
  const name = `move_${randomBytes(6).toString('hex')}`
  return {
    name,
    settings: {
      DATA_DIR: temporaryDir(),
      DATABASE_URL: urlOf(inject('postgres').url, name),
      MASTER_KEY: randomBytes(32).toString('base64'),
      OWNER_TOKEN: `a token of ${name}, chosen by hand`,
    },
  }
}
const [source, target] = [installation(), installation()]
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  for (const { name } of [source, target]) await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
})
afterAll(async () => {
  for (const { name, settings } of [source, target]) {
    await cleanUp(settings.DATA_DIR)
    await execute(inject('postgres').url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
})

const { DATABASE_URL, MASTER_KEY } = target.settings
const settings = { ...source.settings, TO_DATABASE_URL: DATABASE_URL, TO_MASTER_KEY: MASTER_KEY }

/** Runs a command to its end. Neither the other master key nor the password is ever in its output. */
const command = async (environment: Record<string, string>, ...args: string[]) => {
  const process = run(environment, ...args)
  const { code } = await process.exited
  const output = process.stdout + process.stderr
  expect(
    [MASTER_KEY, new URL(DATABASE_URL).password].filter((secret) => secret && output.includes(secret)),
  ).toEqual([])
  return { code, stderr: process.stderr, result: process.stdout === '' ? null : JSON.parse(process.stdout) }
}

const services: ServiceProcess[] = []
const start = async (environment: Record<string, string>) => {
  const service = run(environment)
  services.push(service)
  return (await service.ready()).http
}

test('a move that was killed is completed by another, and the workspace works in the other installation alone', async () => {
  const here = apiOf(await start(source.settings), source.settings.OWNER_TOKEN)
  const there = apiOf(await start(target.settings), source.settings.OWNER_TOKEN)
  const { id: agent } = (await here('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  const { id: workspace } = (await here('GET', '/workspace')).body

  const inArguments = await command(
    settings,
    'move-workspace',
    '--workspace',
    workspace,
    '--to',
    DATABASE_URL,
  )
  expect([inArguments.code, inArguments.stderr]).toEqual([
    2,
    '--to is a URL without a password; set TO_DATABASE_URL for one that has a password.\n',
  ])
  const { TO_MASTER_KEY: _, ...withoutKey } = settings
  expect((await command(withoutKey, 'move-workspace', '--workspace', workspace)).stderr).toContain(
    'TO_MASTER_KEY',
  )

  const examined = await command(settings, 'move-workspace', '--workspace', workspace, '--dry-run')
  expect(examined.result).toMatchObject({ workspace, closed: false, rows: { agent: 1, workspace: 1 } })
  expect(examined.result.obstacles).toEqual([expect.stringContaining('run the command domain there')])
  expect((await command(settings, 'move-workspace', '--workspace', workspace)).code).toBe(1)
  expect((await here('GET', '/workspace')).status).toBe(200)
  await command(target.settings, 'domain')

  const killed = run(settings, 'move-workspace', '--workspace', workspace)
  await until(async () => (await here('GET', '/workspace')).status === 503)
  killed.kill('SIGKILL')
  await killed.exited
  expect((await here('GET', '/workspace')).status).toBe(503)
  expect((await there('GET', '/workspace')).status).toBe(401)

  const moved = await command(settings, 'move-workspace', '--workspace', workspace)
  expect(moved).toMatchObject({
    code: 0,
    result: { workspace, moved: true, closedSeconds: expect.any(Number) },
  })
  expect((await there('GET', `/agents/${agent}`)).body.name).toBe('Bot')
  expect((await here('GET', '/workspace')).status).toBe(503)
  const cancelled = await command(settings, 'move-workspace', '--workspace', workspace, '--cancel')
  expect(cancelled.stderr).toBe('The workspace has moved: it works in the other installation.\n')

  const deleted = await command(source.settings, 'delete-workspace', '--workspace', workspace, '--yes')
  expect(deleted).toMatchObject({ code: 0, result: { deleted: true } })
  expect((await there('GET', `/agents/${agent}`)).status).toBe(200)
  for (const service of services) {
    service.kill('SIGTERM')
    expect((await service.exited).code).toBe(0)
  }
})
