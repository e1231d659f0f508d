import { expect, test } from 'vitest'
import { moveWorkspace, type Step } from '../../src/move/move.ts'
import { startCells } from '../support/cells.ts'
import { signedIn } from '../support/cookie-client.ts'
import { openEvents } from '../support/events.ts'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { post } from '../support/letter.ts'
import { postRpc } from '../support/mcp.ts'
import {
  begin,
  connect,
  decide,
  discover,
  openConsent,
  post as postForm,
  redeem,
  refresh,
  revoke,
} from '../support/oauth.ts'
import { apiOf, createTestAgent } from '../support/service.ts'
import { moveOptions, signAs } from '../support/two-installations.ts'
import { until } from '../support/until.ts'

/** A workspace moves from one installation to another behind a front: who uses it notices a pause. */

const letter = (to: string, subject: string) => ({ from: 'ann@example.com', to, subject, text: subject })

test('is found where it is, by the same URL, token and address', async () => {
  const { cells, service } = await startCells({ environment: { INBOUND_SECRET: SECRET } })
  const [source, target] = cells
  const tenant = await source.workspace('Moving')
  const agent = await createTestAgent(source, tenant, 'Bot')
  const [owner, bot] = [apiOf(service.http, tenant.token), apiOf(service.http, agent.token)]
  const path = `/agents/${agent.id}`
  await owner('PUT', `${path}/access/email`, { admit: 'anyone', senders: [], blocked: [] })
  const { id } = (await bot('PUT', `${path}/connection`, { client: 'c', machine: 'm' })).body
  const events = `${service.http}${path}/connections/${id}/events`
  const stream = await openEvents(events, agent.token)
  await post(service, letter(agent.address, 'before'))
  const [first] = await stream.got(1)

  await target.workspace('Resident')
  await signAs(target, 'one.example')
  const during: unknown[] = []
  const reached = async (step: Step) => {
    if (step !== 'closed') return
    await stream.ended
    const refused = post(service, letter(agent.address, 'during'))
    during.push(await refused.catch((error: { responseCode?: number }) => error.responseCode))
    during.push((await bot('GET', path)).status)
  }
  const options = moveOptions({ source, target }, tenant.id, 'one.example')
  expect(await moveWorkspace({ ...options, reached })).toMatchObject({ moved: true })
  expect(during).toEqual([451, 503])

  await until(async () => (await bot('GET', path)).status === 200)
  expect((await owner('GET', '/workspace')).body.name).toBe('Moving')
  await post(service, letter(agent.address, 'after'))
  const resumed = await openEvents(events, agent.token, { 'Last-Event-ID': String(first!.id) })
  const [second] = await resumed.got(1)
  const heard = await bot('GET', `${path}/messages/${second!.data.messageId}`)
  expect([second!.id, heard.body.subject]).toEqual([first!.id! + 1, 'after'])
  resumed.close()
  expect(
    (await bot('POST', `${path}/messages`, { channel: 'email', to: ['kim@example.com'], text: 'Hi' })).status,
  ).toBe(201)
  expect(await target.db.prisma.message.count({ where: { agentId: agent.id } })).toBe(3)
  // Who stays there writes to it as to anyone elsewhere.
  const stays = await createTestAgent(source, await source.workspace('Staying'), 'Neighbour')
  const toIt = { channel: 'email', to: [agent.address], text: 'Hi' }
  const { id: sent } = (await stays.api('POST', `/agents/${stays.id}/messages`, toIt)).body
  const statusOf = async () => (await stays.api('GET', `/agents/${stays.id}/messages/${sent}`)).body.status
  await until(async () => (await statusOf()) !== 'sending')
  expect(await statusOf()).toBe('sent')
  expect(await source.db.prisma.message.count({ where: { agentId: agent.id } })).toBe(1)
  // The address of the agent that has moved is still closed where it was, which is not asked about it.
  const to = [stays.address, agent.address]
  const handed = await handOver(service.http, {
    raw: 'Subject: To both\r\n\r\nHi',
    from: 'ann@example.com',
    to,
  })
  expect([handed.status, handed.body.accepted.toSorted()]).toEqual([200, to.toSorted()])
})

test('keeps its apps, which renew and revoke their tokens where it is', async () => {
  const { cells, service } = await startCells()
  const [source, target] = cells
  const tenant = await source.workspace('Moving')
  const { id: agent } = await createTestAgent(source, tenant, 'Bot')
  const found = await discover(service)
  const browser = await signedIn(service, tenant.token)
  const app = await connect(found, browser, agent)
  const other = await connect(found, browser, agent)
  // The other installation knows the client already: one that many members connect has one id.
  const resident = await target.workspace('Resident')
  const neighbour = await createTestAgent(target, resident, 'Neighbour')
  const neighbours = await signedIn(service, resident.token)
  const begun = await begin(found, app.client)
  const allowed = { agent: neighbour.id, decision: 'allow' }
  const returned = await decide(neighbours, await openConsent(neighbours, begun), allowed)
  const theirs = await redeem(found, app.client, begun, returned)
  await signAs(target, 'one.example')
  const during: unknown[] = []
  const reached = async (step: Step) => {
    if (step !== 'closed') return
    const form = { grant_type: 'refresh_token', client_id: app.client.client_id }
    const { status } = await postForm(found.server.token_endpoint!, {
      ...form,
      refresh_token: app.refreshToken,
    })
    during.push(status)
  }
  const options = moveOptions({ source, target }, tenant.id, 'one.example')
  expect(await moveWorkspace({ ...options, reached })).toMatchObject({ moved: true })
  expect(during).toEqual([503])
  const statusOf = async (token: string) => (await postRpc(service.http, token, 'tools/list')).status
  // Where it was is still remembered.
  const renewed = await refresh(found, app.client, app.refreshToken)
  expect(await statusOf(renewed.access_token)).toBe(200)
  await revoke(found, other.client, other.refreshToken)
  const left = await apiOf(service.http, tenant.token)('GET', '/connected-apps')
  expect(left.body.map(({ clientId }: { clientId: string }) => clientId)).toEqual([app.client.client_id])
  expect(await statusOf(theirs.access_token)).toBe(200)
  expect((await refresh(found, app.client, renewed.refresh_token!)).access_token).toMatch(/^aot_/)
})
