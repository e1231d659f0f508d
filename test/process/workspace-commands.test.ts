import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The operator exports and deletes a workspace beside a running service. */

const name = `commands_${randomBytes(6).toString('hex')}`
const dataDir = temporaryDir()
const settings = {
  DATA_DIR: dataDir,
  DATABASE_URL: urlOf(inject('postgres').url, name),
  MASTER_KEY: randomBytes(32).toString('base64'),
  OWNER_TOKEN: 'a token of the owner, chosen by hand',
}
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
})
afterAll(async () => {
  await cleanUp(dataDir)
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

const command = async (...args: string[]) => {
  const process = run(settings, ...args)
  const { code } = await process.exited
  return { code, stderr: process.stderr, result: process.stdout === '' ? null : JSON.parse(process.stdout) }
}

test('export writes an archive, and delete-workspace ends the access of everyone at once', async () => {
  const service = run(settings)
  const { http } = await service.ready()
  const owner = apiOf(http, settings.OWNER_TOKEN)
  const { id } = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  const { id: workspace } = (await owner('GET', '/workspace')).body

  const file = join(dataDir, 'workspace.tar')
  const exported = await command('export', file)
  expect(exported.result).toEqual({ workspace, file, bytes: statSync(file).size })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const listed = execFileSync('tar', ['-tf', file], { encoding: 'utf8' }).split('\n')
  expect(listed).toEqual(expect.arrayContaining(['workspace.json', `agents/${id}/agent.json`]))
  const before = readFileSync(file)
  expect((await command('export', file)).code).toBe(1)
  expect(readFileSync(file).equals(before)).toBe(true)

  const unasked = await command('delete-workspace')
  expect([unasked.code, unasked.stderr]).toEqual([
    2,
    'There is no terminal to ask for a confirmation: add --yes.\n',
  ])
  expect((await owner('GET', '/workspace')).status).toBe(200)
  const deleted = await command('delete-workspace', '--workspace', workspace, '--yes')
  expect(deleted).toMatchObject({ code: 0, result: { workspace, name: 'Workspace', deleted: true } })
  await until(async () => (await owner('GET', '/workspace')).status === 401)
  expect((await command('delete-workspace', '--workspace', workspace, '--yes')).stderr).toBe(
    'There is no such workspace.\n',
  )
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})
