import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)

const command = async (settings: Record<string, string>, ...args: string[]) => {
  const process = run(settings, ...args)
  expect(await process.exited).toEqual({ code: 0, signal: null })
  return JSON.parse(process.stdout)
}

/** Creates an agent with a secret. Returns a function that reveals it, from any process of the service. */
const keepSecret = async (http: string, owner: string, value: string) => {
  const api = apiOf(http, owner)
  const { id } = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  const { token } = (await api('POST', `/agents/${id}/tokens`, {})).body
  expect((await api('PUT', `/agents/${id}/secrets/KEY`, { value })).status).toBe(200)
  return async (at = http) =>
    (await (apiOf(at, token) as Api)('POST', `/agents/${id}/secrets/reveal`, {})).body.KEY
}

describe('the key in DATA_DIR', () => {
  const dataDir = temporaryDir()
  const settings = { DATA_DIR: dataDir }
  const file = join(dataDir, 'master.key')
  const keys = () => readFileSync(file, 'utf8').trim().split('\n')
  afterAll(() => cleanUp(dataDir))
  let service: ServiceProcess
  let reveal: Awaited<ReturnType<typeof keepSecret>>
  let revealOther: typeof reveal
  let first: string
  const restart = async () => {
    service.kill('SIGTERM')
    await service.exited
    service = run(settings)
    return (await service.ready()).http
  }

  test('can be rotated while the service runs, even for data that the service has not decrypted yet', async () => {
    service = run(settings)
    const { http } = await service.ready()
    reveal = await keepSecret(http, readFileSync(join(dataDir, 'owner-token'), 'utf8').trim(), 'one')
    const other = await command(settings, 'workspace', '--name', 'Other', '--owner', 'o@example.com')
    const records = await command(settings, 'domain')
    first = keys()[0]!
    expect(await command(settings, 'rotate-key')).toEqual({ workspaces: 2, dkimKeys: 1 })
    expect(keys()).toEqual([expect.not.stringContaining(first), first])
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    expect(await reveal()).toBe('one')
    revealOther = await keepSecret(http, other.token, 'two')
    expect(await revealOther()).toBe('two')
    expect(await command(settings, 'domain')).toEqual(records)
  })

  test('is the new one after a restart, and a second rotation removes the first key', async () => {
    const http = await restart()
    expect(await reveal(http)).toBe('one')
    expect(await command(settings, 'rotate-key')).toEqual({ workspaces: 2, dkimKeys: 1 })
    expect(keys()).toHaveLength(2)
    expect(keys()).not.toContain(first)
    expect(await revealOther(http)).toBe('two')
  })

  test('is rotated by concurrent commands one after the other', async () => {
    await Promise.all([command(settings, 'rotate-key'), command(settings, 'rotate-key')])
    const http = await restart()
    expect([await reveal(http), await revealOther(http)]).toEqual(['one', 'two'])
    expect(readdirSync(dataDir).filter((name) => name.startsWith('master.key'))).toEqual(['master.key'])
  })

  test('can be rotated again after a crash before data was encrypted with the new key', async () => {
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n${keys().join('\n')}\n`)
    const http = await restart()
    expect([await reveal(http), await revealOther(http)]).toEqual(['one', 'two'])
    expect(await command(settings, 'rotate-key')).toEqual({ workspaces: 2, dkimKeys: 1 })
    expect(keys()).toHaveLength(2)
    const again = await restart()
    expect([await reveal(again), await revealOther(again)]).toEqual(['one', 'two'])
  })
})

describe('data keys', () => {
  const name = `data_keys_${randomBytes(6).toString('hex')}`
  const dataDir = temporaryDir()
  const database = urlOf(inject('postgres').url, name)
  const token = 'the token of this owner'
  const settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: database,
    OWNER_TOKEN: token,
    MASTER_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT: '100000',
  }
  /** Returns whether a command is rotating: it then holds the lock of the rotation. */
  const isRotating = async () => {
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    const { rowCount } = await client
      .query('select 1 from pg_locks where objid = 4026531841')
      .finally(() => client.end())
    return rowCount !== 0
  }
  beforeAll(() => execute(inject('postgres').url, `CREATE DATABASE ${name}`))
  afterAll(async () => {
    await cleanUp(dataDir)
    await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
  })

  test('can be rotated while the service runs and the command is killed repeatedly, without losing data', async () => {
    let service = run(settings)
    let { http } = await service.ready()
    const api = (path: string, body: object, method = 'POST') => apiOf(http, token)(method, path, body)
    const { id } = (await api('/agents', { name: 'Bot', icon: 'bot' })).body
    const own = (await api(`/agents/${id}/tokens`, {})).body.token
    const kept: Record<string, string> = {}
    const keep = async (secret: string) => {
      kept[secret] = `value of ${secret}`
      expect((await api(`/agents/${id}/secrets/${secret}`, { value: kept[secret] }, 'PUT')).status).toBe(200)
    }
    const reveal = async () =>
      (await (apiOf(http, own) as Api)('POST', `/agents/${id}/secrets/reveal`, {})).body
    for (let n = 0; n < 150; n++) await keep(`BEFORE_${n}`)
    for (let round = 0; round < 4; round++) {
      const rotating = run(settings, 'rotate-key', '--data-keys')
      await until(async () => rotating.stdout !== '' || (await isRotating()))
      for (let n = 0; n < 5; n++) await keep(`ROUND_${round}_${n}`)
      rotating.kill('SIGKILL')
      await rotating.exited
      expect(await reveal()).toEqual(kept)
    }
    expect(await command(settings, 'rotate-key', '--data-keys')).toMatchObject({
      workspaces: 0,
      unreadable: 0,
      retired: 1,
    })
    // Another process, which has only loaded the new key, reveals the same; an hour passes.
    service.kill('SIGTERM')
    await service.exited
    service = run(settings)
    http = (await service.ready()).http
    expect(await reveal()).toEqual(kept)
    await execute(database, "UPDATE retired_data_key SET retired_at = retired_at - interval '2 hours'")
    // The service may already have removed the old key, in which case the command creates another one.
    expect(await command(settings, 'rotate-key', '--data-keys')).toMatchObject({ unreadable: 0 })
    expect(await reveal()).toEqual(kept)
    await keep('AFTER')
    expect(await command(settings, 'rotate-key', '--data-keys')).toMatchObject({ unreadable: 0 })
    expect(await reveal()).toEqual(kept)
  })
})

describe('MASTER_KEY', () => {
  const name = `rotation_${randomBytes(6).toString('hex')}`
  const dataDir = temporaryDir()
  const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const token = 'the token of this owner'
  const settingsWith = (MASTER_KEY: string) => ({
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(inject('postgres').url, name),
    OWNER_TOKEN: token,
    MASTER_KEY,
  })
  beforeAll(() => execute(inject('postgres').url, `CREATE DATABASE ${name}`))
  afterAll(async () => {
    await cleanUp(dataDir)
    await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
  })

  test('is rotated from the second key of the list to the first, which then works alone', async () => {
    const before = run(settingsWith(old))
    const reveal = await keepSecret((await before.ready()).http, token, 'one')
    const alone = run(settingsWith(old), 'rotate-key')
    expect((await alone.exited).code).toBe(2)
    expect(alone.stderr).toMatch(
      /^MASTER_KEY has only one key; rotate-key takes the new key and, after a comma, the current one/,
    )
    const both = run(settingsWith(`${fresh},${old}`))
    const { http } = await both.ready()
    expect(await reveal(http)).toBe('one')
    expect(await command(settingsWith(`${fresh},${old}`), 'rotate-key')).toEqual({
      workspaces: 1,
      dkimKeys: 0,
    })
    expect(await command(settingsWith(`${fresh},${old}`), 'rotate-key')).toEqual({
      workspaces: 0,
      dkimKeys: 0,
    })
    const after = run(settingsWith(fresh))
    expect(await reveal((await after.ready()).http)).toBe('one')
    const outdated = run(settingsWith(old))
    expect((await outdated.exited).code).toBe(2)
    expect(outdated.stderr).toContain('not the key that this database was created with')
  })
})
