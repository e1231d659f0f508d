import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expireQuestions, pruneQuestions } from '../../src/question/expire.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { openMcp } from '../support/mcp.ts'
import { expectPage, visit } from '../support/page.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  type Api,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** An agent asks members; the first answer counts, wherever it is given. */

const DAY = 86_400_000

let clock: FakeClock
let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url, RATE_LIMIT: '100000' },
    world: { clock, random: () => 0 },
  })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/questions`
})

const ask = (body: object = {}, of: TestAgent = agent) =>
  of.api('POST', `/agents/${of.id}/questions`, { text: 'Refund?', ...body })
const read = async (id: string, query = '') => (await agent.api('GET', `${path}/${id}${query}`)).body
const answer = (id: string, text: string, by: Api = owner.api) => by('POST', `${path}/${id}/answer`, { text })
const events = async () =>
  (await agent.api('GET', `/agents/${agent.id}/events?after=0&types=question.answered`)).body.items
const later = (): false => {
  clock.advance(1_000)
  return false
}
/** The mail with a question; members also get others. */
const mailTo = async (address: string) =>
  (
    await until(
      () =>
        relay.mails.find(({ to, mail }) => to.includes(address) && /\/answer\//.test(mail.text ?? '')) ??
        later(),
    )
  ).mail
const linkIn = ({ text }: { text?: string | undefined }) => /http\S+\/answer\/\S+/.exec(text ?? '')![0]
/** The page checks where a form comes from. */
const submit = (link: string, form: Record<string, string>) =>
  fetch(service.http + new URL(link).pathname, {
    method: 'POST',
    headers: { Origin: service.http.replace('127.0.0.1', 'localhost') },
    body: new URLSearchParams(form),
  })
const addMember = async (email: string): Promise<{ id: string; api: Api }> => {
  const invited = await owner.api('POST', '/members/invitations', { email, role: 'member' })
  const joined = await visit(service.http, invited.body.url, { name: email.split('@')[0]! })
  const api = apiOf(service.http, /amt_\w+/.exec(joined.text)![0])
  return { id: (await api('PATCH', '/members/me', {})).body.id, api }
}

describe('a question', () => {
  test('is answered by a member, once, and the agent hears of it', async () => {
    const asked = await ask({ options: ['Yes', 'No'] })
    expect(asked.status).toBe(201)
    expect(asked.body).toMatchObject({
      ...{ agentId: agent.id, text: 'Refund?', options: ['Yes', 'No'], to: [], status: 'open', answer: null },
      expiresAt: new Date(Date.parse(asked.body.createdAt) + DAY).toISOString(),
    })
    const { id } = asked.body
    expectFailure(await answer(id, 'Yes', agent.api), 'forbidden', /Only a member/)
    expectFailure(await answer(id, 'Perhaps'), 'invalid_input', /must be one of: Yes, No/)
    const answered = await answer(id, 'yes')
    expect(answered.body).toMatchObject({
      status: 'answered',
      answer: { text: 'Yes', by: owner.email, at: expect.any(String), through: 'api' },
    })
    expectFailure(await answer(id, 'No'), 'conflict', new RegExp(`${owner.email} answered “Yes”`))
    expect(await read(id)).toEqual(answered.body)
    expect(await events()).toMatchObject([
      {
        ...{ type: 'question.answered', messageId: id, mayInstruct: true },
        sender: { kind: 'member', id: owner.member, email: owner.email },
        question: { id, status: 'answered', answer: answered.body.answer },
      },
    ])
    const audit = await owner.api('GET', `/audit?agentId=${agent.id}&action=question.answer`)
    expect(audit.body.items).toMatchObject([{ actor: { id: owner.member }, detail: { question: id } }])
  })

  test('is answered in words, and its event is in the log that GraphQL shows', async () => {
    const { id } = (await ask()).body
    expectFailure(await answer(id, '   '), 'invalid_input')
    await answer(id, 'Half of it')
    const query = `{ agent(id: "${agent.id}") { events(types: ["question.answered"]) { edges { node {
      type channel message { id } question { id status answer { text by at through } } } } } } }`
    const { body } = await agent.api('POST', '/graphql', { query })
    expect(body.data.agent.events.edges).toEqual([
      {
        node: {
          ...{ type: 'question.answered', channel: 'email', message: null },
          question: {
            ...{ id, status: 'answered' },
            answer: { text: 'Half of it', by: owner.email, at: expect.any(String), through: 'api' },
          },
        },
      },
    ])
  })

  test('has one answer of a hundred at once, in two processes', async () => {
    const other = await service.again()
    const { id } = (await ask()).body
    const both = [owner.api, apiOf(other.http, owner.token)]
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => answer(id, `answer ${index}`, both[index % 2])),
    )
    const counted = answers.filter(({ status }) => status === 200)
    expect(counted).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(99)
    expect((await read(id)).answer).toEqual(counted[0]!.body.answer)
    expect(await events()).toHaveLength(1)
  })

  test('is waited for', async () => {
    const { id } = (await ask()).body
    const waiting = read(id, '?seconds=60')
    await answer(id, 'Yes')
    expect(await waiting).toMatchObject({ status: 'answered', answer: { text: 'Yes' } })
    const { id: another } = (await ask()).body
    const inVain = read(another, '?seconds=1')
    await until(async () => {
      clock.advance(1_000)
      return (await Promise.race([inVain, Promise.resolve(null)])) !== null
    })
    expect((await inVain).status).toBe('open')
  })

  test('expires, with an event, and cannot be answered any more', async () => {
    const { id } = (await ask({ expiresIn: 60 })).body
    clock.advance(60_000)
    expect((await read(id)).status).toBe('expired')
    expectFailure(await answer(id, 'Yes'), 'conflict', /its time is over/)
    const deps = {
      ...service.db,
      clock,
      feed: { committed: () => undefined },
      notifier: { publish: () => undefined },
    }
    await Promise.all([1, 2].map(() => expireQuestions(deps, new AbortController().signal)))
    // The next look is when another can expire that is asked meanwhile, or the next one does.
    expect(await expireQuestions(deps, new AbortController().signal)).toBe(60_000)
    await ask({ expiresIn: 60 })
    clock.advance(20_000)
    expect(await expireQuestions(deps, new AbortController().signal)).toBe(40_000)
    expect(await events()).toMatchObject([
      { sender: { kind: 'agent', id: agent.id }, question: { id, status: 'expired', answer: null } },
    ])
    expect((await agent.api('GET', `${path}?status=expired`)).body.items).toMatchObject([{ id }])
    await pruneQuestions(service.db, new Date(clock.now().getTime() + 31 * DAY))
    expectFailure(await agent.api('GET', `${path}/${id}`), 'not_found')
  })

  test('is withdrawn by the agent', async () => {
    const { id } = (await ask()).body
    expect((await agent.api('DELETE', `${path}/${id}`)).status).toBe(204)
    expectFailure(await answer(id, 'Yes'), 'conflict', /withdrew/)
    expectFailure(await agent.api('DELETE', `${path}/${id}`), 'conflict', /withdrawn/)
    expect(await events()).toEqual([])
  })

  test('is one of at most 20 that are open', async () => {
    const asked = await Promise.all(Array.from({ length: 22 }, () => ask()))
    expect(asked.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = asked.find(({ status }) => status !== 201)!
    expectFailure(refused, 'conflict', /at most 20 open questions/)
    const open = (await agent.api('GET', `${path}?status=open&limit=15`)).body
    expect(open.items).toHaveLength(15)
    const rest = await agent.api('GET', `${path}?status=open&limit=15&cursor=${open.nextCursor}`)
    expect(rest.body.items).toHaveLength(5)
    await agent.api('DELETE', `${path}/${open.items[0].id}`)
    expect((await ask()).status).toBe(201)
  })

  test('is listed by GraphQL as by REST', async () => {
    for (const text of ['First?', 'Second?', 'Third?']) await ask({ text })
    const { items } = (await agent.api('GET', path)).body
    await answer(items[1].id, 'Yes')
    const list = async (args: string) => {
      const query = `{ agent(id: "${agent.id}") { questions${args} { edges { node { id status answer { text } } } pageInfo { endCursor hasNextPage } } } }`
      const { edges, pageInfo } = (await agent.api('POST', '/graphql', { query })).body.data.agent.questions
      return { ...pageInfo, nodes: edges.map(({ node }: { node: object }) => node) }
    }
    const ids = items.map(({ id }: { id: string }) => id)
    expect((await list('')).nodes.map(({ id }: { id: string }) => id)).toEqual(ids)
    const first = await list('(first: 2)')
    expect(first).toMatchObject({ hasNextPage: true, nodes: [{ id: ids[0] }, { id: ids[1] }] })
    const rest = await list(`(after: "${first.endCursor}")`)
    expect(rest).toMatchObject({ hasNextPage: false, nodes: [{ id: ids[2] }] })
    expect((await list('(status: answered)')).nodes).toEqual([
      { id: ids[1], status: 'answered', answer: { text: 'Yes' } },
    ])
    clock.advance(DAY)
    expect((await list('(status: expired)')).nodes).toMatchObject([{ id: ids[0] }, { id: ids[2] }])
    expect((await list('(status: open)')).nodes).toEqual([])
  })

  test('is refused with options that are too many, the same or too long, for nobody, and for too long', async () => {
    for (const wrong of [
      { text: '' },
      { text: ' ' },
      { text: 'x'.repeat(2_001) },
      { options: ['Yes'] },
      { options: ['1', '2', '3', '4', '5', '6', '7'] },
      { options: ['Yes', 'yes '] },
      { options: ['Yes', 'x'.repeat(61)] },
      { options: ['Yes', 'No\nand'] },
      { to: [agent.id] },
      { expiresIn: 59 },
      { expiresIn: 604_801 },
    ])
      expectFailure(await ask(wrong), 'invalid_input')
  })

  test('does not contain values of secrets, and neither does its answer', async () => {
    await agent.api('PUT', `/agents/${agent.id}/secrets/API_KEY`, { value: 'hunter2-hunter2' })
    expectFailure(await ask({ text: 'Is hunter2-hunter2 right?' }), 'forbidden', /API_KEY \(text\)/)
    expectFailure(await ask({ options: ['hunter2-hunter2', 'No'] }), 'forbidden', /API_KEY \(options\)/)
    const { id } = (await ask()).body
    expectFailure(await answer(id, 'aHVudGVyMi1odW50ZXIy'), 'forbidden', /API_KEY/)
    expect((await read(id)).status).toBe('open')
  })

  test('of another workspace does not exist', async () => {
    const { id } = (await ask()).body
    const stranger = await service.workspace()
    expectFailure(await answer(id, 'Yes', stranger.api), 'not_found')
    expectFailure(await stranger.api('GET', `${path}/${id}`), 'not_found')
    const colleague = await createTestAgent(service, owner)
    expectFailure(await colleague.api('GET', `${path}/${id}`), 'forbidden')
  })
})

describe('members who are asked', () => {
  test('are those who are named, and they alone may answer', async () => {
    const bo = await addMember('bo@example.com')
    const { id, to } = (await ask({ to: [bo.id] })).body
    expect(to).toEqual([bo.id])
    expectFailure(await answer(id, 'Yes'), 'forbidden', /other members/)
    const waiting = async (api: Api) =>
      (await api('POST', '/graphql', { query: '{ workspace { questions { id agent { id } } } }' })).body.data
        .workspace.questions
    expect(await waiting(owner.api)).toEqual([])
    expect(await waiting(bo.api)).toEqual([{ id, agent: { id: agent.id } }])
    expect((await answer(id, 'Yes', bo.api)).status).toBe(200)
    expect(await waiting(bo.api)).toEqual([])
  })

  test('get no mail if they do not want it, and answer in the web application', async () => {
    const quiet = await owner.api('PATCH', '/members/me', { questionMails: false })
    expect(quiet.body).toMatchObject({ questionMails: false, approvalMails: false })
    const cy = await addMember('cy@example.com')
    const { id } = (await ask()).body
    await mailTo('cy@example.com')
    expect(relay.mails.filter(({ to }) => to.includes(owner.email))).toEqual([])
    expect((await answer(id, 'Yes')).status).toBe(200)
    expectFailure(await answer(id, 'No', cy.api), 'conflict')
  })

  test('get a mail, whose page answers once; opening it changes nothing', async () => {
    await ask({ text: 'Pay <b>80</b>? See https://evil.example/pay now', options: ['Yes', 'No'] })
    const mail = await mailTo(owner.email)
    expect(mail.subject).toMatch(/asks you a question$/)
    expect(mail.text).not.toMatch(/:\/\/evil|evil\.example/)
    const link = linkIn(mail)
    for (let opened = 0; opened < 3; opened++) {
      const page = await visit(service.http, link)
      expect(page.status).toBe(200)
      expect(page.text).toContain('Pay &lt;b&gt;80&lt;/b&gt;? See https://evil.example/pay now')
      expect(page.text).not.toContain('href="https://evil')
    }
    await fetch(service.http + new URL(link).pathname, { method: 'HEAD' })
    const { items } = (await agent.api('GET', `${path}?status=open`)).body
    expect(items).toHaveLength(1)
    expect((await submit(link, { text: 'Never' })).status).toBe(400)
    expect(await (await submit(link, { text: 'Yes' })).text()).toContain('This question was answered')
    expect(await (await submit(link, { text: 'No' })).text()).toMatch(/answered:[\s\S]*Yes/)
    expect(await read(items[0].id)).toMatchObject({
      answer: { text: 'Yes', by: owner.email, through: 'email' },
    })
    expect(await events()).toMatchObject([{ mayInstruct: false }])
  })

  test('cannot answer with a forged link, nor with that of another question or of a message', async () => {
    const { id } = (await ask()).body
    const link = linkIn(await mailTo(owner.email))
    const token = new URL(link).pathname.split('/').at(-1)!
    const { id: other } = (await ask()).body
    const forged = [
      `${token.slice(0, -4)}AAAA`,
      token.replace(id, other),
      token.replace(owner.member, agent.id),
      token.replace(/\.\d+\./, '.99999999999.'),
    ]
    for (const one of forged) {
      const answered = await submit(`${service.http}/answer/${one}`, { text: 'Yes' })
      expect(answered.status).toBe(404)
    }
    expect((await submit(`${service.http}/approve/${token}`, { decision: 'approve' })).status).toBe(404)
    for (const one of [id, other]) expect((await read(one)).status).toBe('open')
    expectPage(await visit(service.http, link), 200, 'Refund')
  })

  test('cannot answer once they are removed, nor after its time', async () => {
    const bo = await addMember('bo@example.com')
    const { id } = (await ask()).body
    const link = linkIn(await mailTo('bo@example.com'))
    await owner.api('DELETE', `/members/${bo.id}`)
    expect((await submit(link, { text: 'Yes' })).status).toBe(404)
    expectFailure(await answer(id, 'Yes', bo.api), 'unauthorized')
    const own = linkIn(await mailTo(owner.email))
    clock.advance(DAY)
    expect(await (await submit(own, { text: 'Yes' })).text()).toContain('The time for this question is over')
    expect((await read(id)).status).toBe('expired')
  })
})

describe('the MCP tool ask_member', () => {
  test('waits for the answer, or returns the id to look at again', async () => {
    const mcp = await openMcp(service.http, agent.token)
    try {
      const words = { text: 'Refund?', options: ['Yes', 'No'], seconds: 0, key: 'k' }
      const { result: asked } = await mcp.call('ask_member', words)
      expect(asked).toMatchObject({ status: 'open', questionId: expect.any(String), next: /call ask_member/ })
      expect((await mcp.call('ask_member', words)).result.questionId).toBe(asked.questionId)
      const waiting = mcp.call('ask_member', { questionId: asked.questionId })
      await answer(asked.questionId, 'No')
      expect((await waiting).result).toMatchObject({
        ...{ status: 'answered', answer: expect.stringMatching(/OUTSIDE .*No/), through: 'api' },
      })
    } finally {
      await mcp.close()
    }
  })
})
