import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const name = `rolling_${randomBytes(6).toString('hex')}`
const database = urlOf(inject('postgres').url, name)
const dataDir = temporaryDir()
const settings = {
  DATA_DIR: dataDir,
  DATABASE_URL: database,
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

/** A migration that a later build may contain: it adds tables, and columns with defaults. */
const MIGRATION_OF_A_LATER_BUILD = `
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN later_build text NOT NULL DEFAULT ''x''', name);
    END LOOP;
  END $$;
  CREATE TABLE later_build (id int PRIMARY KEY);
  INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES ('${randomUUID()}', 'x', '29991231000000_later_build', now(), now(), 1);`

interface Running {
  service: ServiceProcess
  smtp: string
  http: string
  owner: Api
}

const start = async (): Promise<Running> => {
  const service = run(settings)
  const { http, smtp } = await service.ready()
  return { service, smtp, http, owner: apiOf(http, settings.OWNER_TOKEN) }
}

test('a build keeps running after the migration of a later build, and can be restarted', async () => {
  const before = await start()
  const agent = (await before.owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  const [{ value: address }] = (await before.owner('GET', `/agents/${agent.id}/addresses`)).body
  await before.owner('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const { token } = (await before.owner('POST', `/agents/${agent.id}/tokens`, {})).body

  const write = (to: Running, subject: string) =>
    deliver(to.smtp, { from: 'ann@example.com', to: address, subject, text: 'hi' })
  const subjectsAt = async ({ owner }: Running) =>
    (await owner('GET', `/agents/${agent.id}/messages?direction=inbound`)).body.items.map(
      ({ subject }: { subject: string }) => subject,
    )
  const eventsAt = async ({ owner }: Running) => {
    const query = `{ agent(id: "${agent.id}") { events { edges { node { id } } } messages { edges { node { text } } } tokens { id } } }`
    const rest = (await owner('GET', `/agents/${agent.id}/events?after=0`)).body.items
    expect((await owner('POST', '/graphql', { query })).body.errors ?? []).toEqual([])
    return rest.map(({ id }: { id: number }) => id)
  }
  const sendsFrom = async ({ owner }: Running) => {
    const sent = (
      await owner('POST', `/agents/${agent.id}/messages`, {
        channel: 'email',
        to: ['bo@example.com'],
        text: 'hi',
      })
    ).body
    await until(
      async () => (await owner('GET', `/agents/${agent.id}/messages/${sent.id}`)).body.status === 'sent',
      20_000,
    )
  }

  // Each kind of statement is prepared before the columns change.
  await write(before, 'one')
  await sendsFrom(before)
  expect(await eventsAt(before)).toEqual([1])

  await execute(database, MIGRATION_OF_A_LATER_BUILD)

  const again = await start()
  expect(again.service.stderr).toContain('database is newer than this build')
  const { id } = (
    await apiOf(again.http, token)('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  ).body
  const stream = await openEvents(`${again.http}/agents/${agent.id}/connections/${id}/events?after=0`, token)
  await write(before, 'two')
  await write(again, 'three')
  await stream.got(3)
  expect(stream.frames.map((frame) => frame.id)).toEqual([1, 2, 3])
  for (const process of [before, again]) {
    expect(await subjectsAt(process)).toEqual(['three', 'two', 'one'])
    expect(await eventsAt(process)).toEqual([1, 2, 3])
    await sendsFrom(process)
    expect((await process.owner('POST', '/agents', { name: 'More', icon: 'zap' })).status).toBe(201)
    expect((await process.owner('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'v' })).status).toBe(200)
    expect(
      (await process.owner('POST', `/agents/${agent.id}/tokens`, {}, { 'Idempotency-Key': process.http }))
        .status,
    ).toBe(201)
  }
  before.service.kill('SIGTERM')
  expect((await before.service.exited).code).toBe(0)
  await write(again, 'four')
  await stream.got(4)
  stream.close()
  for (const { service } of [before, again]) expect(service.stderr).not.toContain('"level":"error"')
})
