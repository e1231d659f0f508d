import { beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { moveWorkspace } from '../../src/move/move.ts'
import { post } from '../support/letter.ts'
import { openBucket, type TestBucket } from '../support/s3.ts'
import { apiOf, createTestAgent, type TestService } from '../support/service.ts'
import {
  type Installations,
  moveOptions,
  signAsSource,
  twoInstallations,
} from '../support/two-installations.ts'
import { until } from '../support/until.ts'

/** Contents in an object store move to that of the other installation. */

let both: Installations
let source: TestService
let target: TestService
let buckets: [TestBucket, TestBucket]
beforeAll(async () => {
  buckets = [await openBucket(), await openBucket()]
  const [here, there] = buckets.map(({ environment }) => environment)
  both = await twoInstallations(here!, there!)
  ;({ source, target } = both)
  await signAsSource(both)
})

test('a mail whose contents a slow store takes while its workspace is closed is told to try again', async () => {
  const { api, id: workspaceId } = await source.workspace('Slow')
  const agent = await createTestAgent(source, { api }, 'Bot')
  let go = () => {}
  let isWriting = false
  buckets[0].before = (method) => {
    if (method !== 'PUT') return undefined
    isWriting = true
    return new Promise((resolve) => {
      go = () => resolve(undefined)
    })
  }
  const attachments = [{ filename: 'a.txt', content: Buffer.alloc(30_000, 'contents ') }]
  await api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [], blocked: [] })
  const letter = { from: 'ann@example.com', to: agent.address, subject: 'One', text: 'one', attachments }
  const refused = post(source, letter).catch((error: { responseCode?: number }) => error.responseCode)
  await until(() => isWriting)
  buckets[0].before = () => undefined
  await source.db.prisma.workspaceMove.create({
    data: { workspaceId, target: 'another', startedAt: new Date() },
  })
  go()
  expect(await refused).toBe(451)
  expect(await source.db.prisma.message.count({ where: { agentId: agent.id } })).toBe(0)
})

test('objects are copied as they are, and read there; the same place, or none, is refused', async () => {
  const tenant = await source.workspace('Objects')
  const agent = await createTestAgent(source, tenant, 'Bot')
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [], blocked: [] })
  const file = Buffer.alloc(30_000, 'contents ')
  const attachments = [{ filename: 'a.txt', content: file }]
  await post(source, { from: 'ann@example.com', to: agent.address, subject: 'One', text: 'one', attachments })
  const stores = buckets.map(({ environment }) => readConfig(environment).objectStore)
  const options = moveOptions(both, tenant.id)
  const moving = (objectStore: (typeof stores)[0]) =>
    moveWorkspace({
      ...options,
      config: { ...options.config, objectStore: stores[0] },
      target: { ...options.target, objectStore },
    })
  await expect(moving(undefined)).rejects.toThrow('set TO_BLOB_URL')
  await expect(moving(stores[0])).rejects.toThrow('the same bucket and prefix')
  await moving(stores[1])
  expect([...buckets[1].objects.keys()].filter((key) => key.includes(agent.id)).sort()).toEqual(
    [...buckets[0].objects.keys()].filter((key) => key.includes(agent.id)).sort(),
  )
  await buckets[0].stop()
  const there = apiOf(target.http, agent.token)
  const [message] = (await there('GET', `/agents/${agent.id}/messages`)).body.items
  const read = await there('GET', `/agents/${agent.id}/messages/${message.id}/attachments/0`)
  expect([read.status, read.text]).toEqual([200, file.toString()])
  expect((await there('GET', `/agents/${agent.id}/messages/${message.id}/raw`)).status).toBe(200)
})
