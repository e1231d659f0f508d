import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SentSms } from '../../src/demo/sms/stand-in.ts'
import { postRpc } from '../support/mcp.ts'
import { visit } from '../support/page.ts'
import { startRelay } from '../support/relay.ts'
import { type Api, apiOf, createTestAgent } from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** A thousand answers of everybody who is not the member that was asked, over every way there is: none counts. */

const PHONE = '+15551230001'
const OURS = '+15005550109'

const relay = await startRelay()
afterAll(() => relay.stop())
const twilio = await openTwilio()
const { telegram, service, owner, agent, bot, ann } = await arrangeTelegram({
  environment: { ...twilio.environment, SMTP_RELAY_URL: relay.url, RATE_LIMIT: '1000000' },
})
const mo = telegram.world.person('Mo')
const path = `/agents/${agent.id}/questions`
const origin = service.http.replace('127.0.0.1', 'localhost')

interface Asked {
  id: string
  link: string
  code: string
  tapped: Parameters<typeof telegram.tap>[0]
}

let attempts = 0
/** Tries something so many times, and expects what every one of them was told. */
const attempt = async (times: number, forge: (index: number) => Promise<unknown>, told: RegExp) => {
  for (let index = 0; index < times; index++) {
    expect(JSON.stringify((await forge(index)) ?? '')).toMatch(told)
    attempts++
  }
}

const join = async (email: string): Promise<{ id: string; api: Api }> => {
  const invited = await owner.api('POST', '/members/invitations', { email, role: 'member' })
  const joined = await visit(service.http, invited.body.url, { name: 'Bo' })
  const api = apiOf(service.http, /amt_\w+/.exec(joined.text)![0])
  return { id: (await api('GET', '/viewer')).body.id, api }
}

const linkTo = (email: string, words: string) =>
  until(() => {
    const found = relay.mails.find(({ to, mail }) => to.includes(email) && mail.text?.includes(words))
    return found && /http\S+\/answer\/\S+/.exec(found.mail.text ?? '')![0]
  })

/** Asks the owner, on all ways. */
const askOwner = async (text: string): Promise<Asked> => {
  const asked = await agent.api('POST', path, { text, options: ['Yes', 'No'], to: [owner.member] })
  const link = await linkTo(owner.email, text)
  const { body } = await until((): SentSms | undefined => twilio.sent.find((one) => one.body.includes(text)))
  const { message } = await until(() => telegram.sent.find((one) => one.message.text?.includes(text)))
  return { id: asked.body.id, link, code: /reply: ([A-Z2-9]{6})/.exec(body)![1]!, tapped: message }
}

const submit = async (link: string, from: string | null = origin, method = 'POST') => {
  const response = await fetch(service.http + new URL(link).pathname, {
    method,
    headers: from === null ? {} : { Origin: from },
    ...(method === 'POST' ? { body: new URLSearchParams({ text: 'Yes' }) } : {}),
  })
  return `${response.status} ${await response.text()}`
}
const sms = async (from: string, body: string) => (await twilio.text(from, OURS, body)).text()
const answer = (api: Api, id: string, at = path) => api('POST', `${at}/${id}/answer`, { text: 'Yes' })
const byGraphql = (api: Api, questionId: string) =>
  api('POST', '/graphql', {
    query: `mutation ($input: AnswerQuestionInput!) { answerQuestion(input: $input) { question { status } } }`,
    variables: { input: { agentId: agent.id, questionId, text: 'Yes' } },
  })
/** A code that nobody was sent. */
const wrongCode = (right: string) => {
  const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
  const code = Array.from(randomBytes(6), (byte) => letters[byte % letters.length]).join('')
  return code === right ? 'AAAAAA' : code
}

let open: Asked
let ended: Asked[]
beforeAll(async () => {
  await giveNumber(service, twilio, agent, OURS)
  await agent.api('PUT', `/agents/${agent.id}/access/sms`, { admit: 'anyone', senders: [] })
  for (const person of [mo, ann]) await telegram.write(bot, person, 'hello')
  const { prisma } = service.db
  for (const [channel, value] of [
    ['telegram', String(mo.id)],
    ['sms', PHONE],
  ] as const)
    await prisma.memberIdentity.create({ data: { memberId: owner.member, channel, value } })
  open = await askOwner('Open the door?')
  const [expired, withdrawn] = [await askOwner('Is it over?'), await askOwner('Never mind?')]
  await prisma.question.updateMany({ where: { id: expired.id }, data: { expiresAt: new Date(0) } })
  await agent.api('DELETE', `${path}/${withdrawn.id}`)
  ended = [expired, withdrawn]
})

const NO_LINK = /^"404 /
const OVER = /cannot be answered any more/

describe('nobody else answers', () => {
  test('with a link that is changed, guessed, of another member or for something else', async () => {
    const token = new URL(open.link).pathname.split('/').at(-1)!
    const parts = token.split('.')
    const at = (one: string) => `${origin}/answer/${one}`
    const flipped = (index: number) => {
      const place = (index * 7) % token.length
      const letter = token[place] === 'a' ? 'b' : 'a'
      return token.slice(0, place) + letter + token.slice(place + 1)
    }
    await attempt(60, (index) => submit(at(flipped(index))), NO_LINK)
    const guess = () => [...parts.slice(0, 4), randomBytes(32).toString('base64url')].join('.')
    await attempt(100, () => submit(at(guess())), NO_LINK)
    const bo = await join('bo@example.com')
    await agent.api('POST', path, { text: 'What do you say?', to: [bo.id] })
    const own = new URL(await linkTo('bo@example.com', 'What do you say?')).pathname.split('/').at(-1)!
    const moved = own.split('.')
    moved[2] = open.id
    await attempt(30, () => submit(at(moved.join('.'))), NO_LINK)
    await attempt(30, () => submit(at(own.replace(bo.id, owner.member))), NO_LINK)
    await attempt(30, () => submit(`${origin}/approve/${token}`), /^"40[04] /)
    await attempt(60, () => answer(bo.api, open.id), /put to other members/)
    await attempt(30, () => byGraphql(bo.api, open.id), /put to other members/)
    await owner.api('DELETE', `/members/${bo.id}`)
    await attempt(20, () => submit(at(own)), NO_LINK)
    await attempt(30, () => answer(bo.api, open.id), /unauthorized/)
  })

  test('by opening the link, or from a page of somebody else', async () => {
    for (const method of ['GET', 'HEAD'])
      await attempt(40, () => submit(`${open.link}?text=Yes`, origin, method), /^"200 /)
    await attempt(40, () => submit(open.link, 'https://evil.example'), /^"403 /)
    await attempt(20, () => submit(open.link, null), /^"403 /)
  })

  test('by SMS without the number or the code', async () => {
    await attempt(80, (index) => sms(`+1555999${1000 + index}`, `${open.code} 1`), /^(?!.*Your answer: )/)
    await attempt(80, () => sms(PHONE, `${wrongCode(open.code)} 1`), /^(?!.*Your answer: )/)
    await attempt(
      10,
      (index) => sms(PHONE, ['1', 'Yes', 'YES 1', '#1', `x ${open.code} 1`][index % 5]!),
      /^(?!.*Your answer: )/,
    )
  })

  test('in Telegram as somebody else, or with a code of nobody', async () => {
    await attempt(60, () => telegram.tap(open.tapped, 'Yes', ann), /only by the member/)
    await attempt(
      60,
      () => telegram.tap(open.tapped, 'Yes', mo, `${wrongCode(open.code)} #1`),
      /^(?!.*Your answer: )/,
    )
    await attempt(20, () => telegram.write(bot, ann, `[${open.code}] Yes`), /./)
  })

  test('as the agent, another agent or somebody of another workspace', async () => {
    const stranger = await service.workspace()
    const [peer, theirs] = [await createTestAgent(service, owner), await createTestAgent(service, stranger)]
    await attempt(40, () => answer(agent.api, open.id), /Only a member/)
    await attempt(20, () => byGraphql(agent.api, open.id), /Only a member/)
    await attempt(20, () => answer(peer.api, open.id), /forbidden/)
    for (const { api } of [stranger, theirs]) {
      await attempt(20, () => answer(api, open.id), /not_found/)
      await attempt(20, () => answer(api, open.id, `/agents/${theirs.id}/questions`), /not_found|forbidden/)
      await attempt(20, () => byGraphql(api, open.id), /not_found|Only a member/)
    }
    const called = await postRpc(service.http, agent.token, 'tools/call', {
      ...{ name: 'ask_member', arguments: { questionId: open.id, text: 'Yes', seconds: 0 } },
    })
    expect(called.text).toContain('leave text out')
  })

  test('with a token that is not valid, or is for something else', async () => {
    const { token } = (
      await owner.api('POST', '/tokens', { scopes: ['messages:read', 'events', 'settings'] })
    ).body
    await attempt(30, () => answer(apiOf(service.http, token), open.id), /scope messages:write/)
    await attempt(20, () => byGraphql(apiOf(service.http, token), open.id), /scope messages:write/)
    const guess = () =>
      apiOf(
        service.http,
        `amt_${randomBytes(33).toString('base64url').replaceAll(/[-_]/g, 'x').slice(0, 43)}`,
      )
    // After some, all of them are from one address that guesses.
    await attempt(20, () => answer(guess(), open.id), /unauthorized|rate_limited/)
    await attempt(20, () => answer(owner.api, randomUUID()), /not_found/)
  })

  test('once it is over, not even the member', async () => {
    for (const { id, link, code, tapped } of ended) {
      await attempt(20, () => answer(owner.api, id), OVER)
      await attempt(10, () => byGraphql(owner.api, id), OVER)
      await attempt(10, () => submit(link), /is over|was withdrawn/)
      await attempt(10, () => sms(PHONE, `${code} 1`), OVER)
      await attempt(10, () => telegram.tap(tapped, 'Yes', mo), OVER)
    }
  })
})

test('of all of them none counted, and the answer of the member does', async () => {
  expect(attempts).toBeGreaterThanOrEqual(1_000)
  const { items } = (await agent.api('GET', path)).body
  expect(items.length).toBeGreaterThanOrEqual(4)
  for (const one of items) expect(one.answer).toBeNull()
  const answered = async () =>
    (await agent.api('GET', `/agents/${agent.id}/events?after=0&types=question.answered`)).body.items.filter(
      ({ question }: { question: { status: string } }) => question.status === 'answered',
    )
  expect(await answered()).toEqual([])
  expect(await telegram.tap(open.tapped, 'No', mo)).toContain('Your answer: “No”')
  expect(await answered()).toMatchObject([
    { question: { id: open.id, answer: { text: 'No', through: 'telegram' } } },
  ])
})
