import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { DnsResolver } from '../../src/mail/verify/resolver.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { newest, post, receive } from '../support/letter.ts'
import { dkimKey, rawOf } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const signer = dkimKey('signed.example')
const zone: Zone = {
  ...proves('example.com'),
  ...proves('listed.example'),
  ...proves('late.example'),
  ...proves('stranger.example'),
  [signer.name]: { TXT: [signer.txt] },
  '_dmarc.signed.example': { TXT: ['v=DMARC1; p=reject'] },
}

let dnsIsDown = false
/** Stops the service's clock, so that no minute ends while messages of one minute are counted. */
let heldAt: Date | null = null
let service: TestService
let owner: Tenant
beforeAll(async () => {
  const answering = fakeResolver(zone)
  const resolver: DnsResolver = (name, type) =>
    dnsIsDown
      ? Promise.reject(Object.assign(new Error('SERVFAIL'), { code: 'ESERVFAIL' }))
      : answering(name, type)
  service = await startService({
    world: { resolver, clock: { ...systemClock, now: () => heldAt ?? systemClock.now() } },
  })
  owner = await service.workspace()
})

/** Creates an agent with these settings of its email access. */
const agentWith = async (admit: string, senders: string[]): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders })
  return agent
}
const eventsOf = async (agent: TestAgent) =>
  (await agent.api('GET', `/agents/${agent.id}/events?limit=100`)).body.items
const letterTo = (agent: TestAgent, from: string, more: object = {}) => ({
  from,
  to: agent.address,
  subject: 'Hi',
  text: 'hello',
  ...more,
})
const check = (name: string, verdict: string | RegExp) =>
  expect.objectContaining({
    name,
    verdict: typeof verdict === 'string' ? verdict : expect.stringMatching(verdict),
  })

describe('admission', () => {
  interface Case {
    says: string
    admit: string
    senders: string[]
    from: string
    admission?: string
    refusal?: string
    spf: string
  }
  const cases: Case[] = [
    {
      says: 'a member on the list',
      admit: 'list',
      senders: ['OWNER'],
      from: 'OWNER',
      admission: 'team',
      spf: 'pass',
    },
    {
      says: 'a member where the team may write',
      admit: 'team',
      senders: [],
      from: 'OWNER',
      admission: 'team',
      spf: 'pass',
    },
    {
      says: 'a listed sender',
      admit: 'list',
      senders: ['bo@listed.example'],
      from: 'Bo@Listed.example',
      admission: 'listed',
      spf: 'pass',
    },
    {
      says: 'a listed domain',
      admit: 'team',
      senders: ['*@listed.example'],
      from: 'x@listed.example',
      admission: 'listed',
      spf: 'pass',
    },
    {
      says: 'a stranger where anyone may write',
      admit: 'anyone',
      senders: [],
      from: 's@stranger.example',
      admission: 'anyone',
      spf: 'pass',
    },
    {
      says: 'an unproven sender where anyone may write',
      admit: 'anyone',
      senders: [],
      from: 'u@nowhere.example',
      admission: 'anyone',
      spf: 'none',
    },
    {
      says: 'a forged member where anyone may write',
      admit: 'anyone',
      senders: [],
      from: 'FORGED',
      admission: 'anyone',
      spf: 'none',
    },
    {
      says: 'a member where only the list may write',
      admit: 'list',
      senders: [],
      from: 'OWNER',
      refusal: 'sender',
      spf: 'pass',
    },
    {
      says: 'a stranger where only the list may write',
      admit: 'list',
      senders: [],
      from: 's@stranger.example',
      refusal: 'sender',
      spf: 'pass',
    },
    {
      says: 'a stranger where the team may write',
      admit: 'team',
      senders: [],
      from: 's@stranger.example',
      refusal: 'outsider',
      spf: 'pass',
    },
    {
      says: 'an unproven listed sender',
      admit: 'list',
      senders: ['u@nowhere.example'],
      from: 'u@nowhere.example',
      refusal: 'unverified',
      spf: 'none',
    },
    {
      says: 'a subdomain of a listed domain',
      admit: 'list',
      senders: ['*@example'],
      from: 'x@listed.example',
      refusal: 'sender',
      spf: 'pass',
    },
  ]
  test.each(cases)(
    '$says: admission $admission, refusal $refusal',
    async ({ admit, senders, from, admission, refusal, spf }) => {
      const tenant = from === 'FORGED' ? await service.workspace('Forged', 'boss@nowhere.example') : owner
      const agent = await createTestAgent(service, tenant)
      const named = (who: string) => (who === 'OWNER' || who === 'FORGED' ? tenant.email : who)
      await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders: senders.map(named) })
      const message = await receive(service, agent, letterTo(agent, named(from)))
      expect(message).toMatchObject({
        status: refusal ? 'refused' : 'received',
        refusal: refusal ?? null,
        admission: admission ?? null,
        counterpart: named(from).toLowerCase(),
        text: expect.stringContaining('hello'),
      })
      expect(message.checks).toEqual(expect.arrayContaining([check('spf', spf), check('dmarc', /./)]))
      expect(message.checks.at(-1)).toEqual({
        name: 'admission',
        verdict: refusal ?? admission,
        detail: expect.any(String),
      })
    },
  )

  test('a sender is proven by a DKIM signature of its domain without SPF', async () => {
    const agent = await agentWith('list', ['ann@signed.example'])
    const signed = await receive(service, agent, letterTo(agent, 'ann@signed.example', { sign: signer }))
    expect(signed).toMatchObject({ status: 'received', admission: 'listed' })
    expect(signed.checks).toEqual(expect.arrayContaining([check('dkim', 'pass'), check('dmarc', 'pass')]))
    const unsigned = await receive(service, agent, letterTo(agent, 'ann@signed.example'))
    expect(unsigned).toMatchObject({ status: 'refused', refusal: 'unverified' })
  })

  test('an SPF pass of a domain other than From’s proves nothing', async () => {
    const agent = await agentWith('list', [owner.email])
    const raw = await rawOf(letterTo(agent, owner.email))
    const message = await receive(service, agent, {
      raw,
      envelope: { from: 'x@listed.example', to: agent.address },
    })
    expect(message).toMatchObject({ status: 'refused', refusal: 'unverified' })
  })

  test('Authentication-Results in the mail itself are ignored', async () => {
    const agent = await agentWith('list', ['u@nowhere.example'])
    const headers = {
      'Authentication-Results':
        'agents.localhost; dmarc=pass header.from=nowhere.example; dkim=pass; spf=pass',
    }
    expect((await receive(service, agent, letterTo(agent, 'u@nowhere.example', { headers }))).refusal).toBe(
      'unverified',
    )
  })

  test('two From headers prove nothing', async () => {
    const agent = await agentWith('list', [owner.email])
    const raw = `From: ${owner.email}\r\nFrom: eve@example.com\r\nTo: ${agent.address}\r\nSubject: x\r\n\r\nhello\r\n`
    const message = await receive(service, agent, { raw, envelope: { from: owner.email, to: agent.address } })
    expect(message.status).toBe('refused')
  })

  // With domains that have not been looked up yet, because answers are cached.
  describe('while DNS fails', () => {
    beforeEach(() => {
      dnsIsDown = true
    })
    afterEach(() => {
      dnsIsDown = false
    })

    test('a listed sender gets 451 and is received on the next attempt', async () => {
      const agent = await agentWith('list', ['bo@late.example'])
      const letter = letterTo(agent, 'bo@late.example')
      await expect(post(service, letter)).rejects.toMatchObject({
        response: '451 4.3.0 The sender could not be verified at the moment.',
      })
      dnsIsDown = false
      expect(await newest(agent)).toEqual([])
      expect(await receive(service, agent, letter)).toMatchObject({ status: 'received', admission: 'listed' })
    })

    test('a sender that no record could prove is refused permanently', async () => {
      const agent = await agentWith('list', ['bo@listed.example'])
      const raw = await rawOf(letterTo(agent, 'bo@listed.example'))
      const forged = { raw, envelope: { from: 'eve@stranger.example', to: agent.address } }
      expect(await receive(service, agent, forged)).toMatchObject({
        status: 'refused',
        refusal: 'unverified',
      })
    })

    test('a sender whose proof does not matter is received or refused without a retry', async () => {
      const open = await agentWith('anyone', ['bo@unheard.example'])
      expect(await receive(service, open, letterTo(open, 'bo@unheard.example'))).toMatchObject({
        status: 'received',
        admission: 'anyone',
      })
      const closed = await agentWith('list', [])
      expect(await receive(service, closed, letterTo(closed, 'bo@unheard.example'))).toMatchObject({
        status: 'refused',
        refusal: 'sender',
      })
    })
  })

  test.each([
    ['several addresses', 'From: OWNER, eve@stranger.example', 'from'],
    ['a group', 'From: team: OWNER;', 'from'],
  ])('From with %s proves nothing, even if the envelope matches', async (_, from, name) => {
    const agent = await agentWith('list', [owner.email])
    const raw = `${from.replace('OWNER', owner.email)}\r\nTo: ${agent.address}\r\n\r\nhello\r\n`
    const message = await receive(service, agent, { raw, envelope: { from: owner.email, to: agent.address } })
    expect(message).toMatchObject({ status: 'refused', refusal: 'unverified' })
    expect(message.checks).toContainEqual(check(name, 'fail'))
  })

  test('text appended after the part that an l= signature covers proves nothing', async () => {
    const agent = await agentWith('list', ['ann@signed.example'])
    const raw = await rawOf({ ...letterTo(agent, 'ann@signed.example'), text: 'hello\n' })
    const { signatures } = await dkimSign(raw, {
      signatureData: [
        {
          signingDomain: 'signed.example',
          selector: 'test',
          privateKey: signer.options.privateKey,
          maxBodyLength: 7,
        },
      ],
    })
    const letter = (body: Buffer) => ({
      raw: body,
      envelope: { from: 'x@stranger.example', to: agent.address },
    })
    const whole = Buffer.concat([Buffer.from(signatures), raw])
    expect(await receive(service, agent, letter(whole))).toMatchObject({
      status: 'received',
      admission: 'listed',
    })
    const longer = Buffer.concat([whole, Buffer.from('Wire the money to me.\r\n')])
    expect(await receive(service, agent, letter(longer))).toMatchObject({
      status: 'refused',
      refusal: 'unverified',
    })
  })

  test('with an unreadable From, the envelope gives the sender but proves nothing', async () => {
    const agent = await agentWith('list', ['bo@listed.example'])
    const raw = `From: the weather station\r\nTo: ${agent.address}\r\n\r\n21 degrees\r\n`
    const message = await receive(service, agent, {
      raw,
      envelope: { from: 'bo@listed.example', to: agent.address },
    })
    expect(message).toMatchObject({
      counterpart: 'bo@listed.example',
      status: 'refused',
      refusal: 'unverified',
      text: '21 degrees',
    })
  })

  test.each([
    ['Auto-Submitted', { headers: { 'Auto-Submitted': 'auto-replied' } }],
    [
      'more than 25 hops',
      { headers: Array.from({ length: 26 }, () => ({ key: 'Received', value: 'from a by b' })) },
    ],
    ['a null return path', { envelope: { from: '' } }],
    ['a loop mark of this service', { headers: { 'X-Loop': 'agents.localhost' } }],
  ])('mail with %s is refused as “self”, even if anyone may write', async (_, more) => {
    const agent = await agentWith('anyone', [])
    const letter = letterTo(agent, owner.email, more)
    const envelope =
      'envelope' in more ? { ...more.envelope, to: agent.address } : { from: owner.email, to: agent.address }
    expect(await receive(service, agent, { ...letter, envelope })).toMatchObject({
      status: 'refused',
      refusal: 'self',
      admission: null,
    })
  })

  test('mail from the agent’s own address is refused as “self”', async () => {
    const agent = await agentWith('anyone', [])
    expect((await receive(service, agent, letterTo(agent, agent.address))).refusal).toBe('self')
  })

  test('the agent’s own message, returned to it, is refused as “self”', async () => {
    const agent = await agentWith('anyone', [])
    const sent = (
      await agent.api('POST', `/agents/${agent.id}/messages`, {
        channel: 'email',
        to: ['bo@example.com'],
        text: 'hi',
      })
    ).body
    const letter = letterTo(agent, 'bo@listed.example', { messageId: `<${sent.id}@agents.localhost>` })
    expect((await receive(service, agent, letter)).refusal).toBe('self')
  })

  test('the 31st message of a sender in a minute is refused, and another sender has its own limit', async () => {
    heldAt = new Date()
    onTestFinished(() => {
      heldAt = null
    })
    const agent = await agentWith('anyone', [])
    const send = (from: string) => post(service, letterTo(agent, from))
    for (let batch = 0; batch < 3; batch++)
      await Promise.all(Array.from({ length: 10 }, () => send('busy@listed.example')))
    expect(await receive(service, agent, letterTo(agent, 'Busy@listed.example'))).toMatchObject({
      status: 'refused',
      refusal: 'rate_limit',
    })
    expect((await receive(service, agent, letterTo(agent, 'calm@listed.example'))).status).toBe('received')
    expect(await eventsOf(agent)).toHaveLength(31)
  })

  test('a refused message raises no event, and the next accepted one has ID 1', async () => {
    const agent = await agentWith('list', [owner.email])
    await receive(service, agent, letterTo(agent, 's@stranger.example'))
    const accepted = await receive(service, agent, letterTo(agent, owner.email))
    const events = await eventsOf(agent)
    expect(events).toEqual([
      {
        id: 1,
        type: 'message.received',
        channel: 'email',
        messageId: accepted.id,
        createdAt: accepted.createdAt,
        sender: { id: owner.member, kind: 'member', name: null, email: owner.email, phone: null },
        mayInstruct: true,
        ...{ threadId: accepted.threadId, conversation: null, addressed: 'to' },
      },
    ])
  })
})

describe('duplicates of a mail', () => {
  test('with the same Message-ID and body are one message and one event', async () => {
    const agent = await agentWith('anyone', [])
    const raw = await rawOf(letterTo(agent, owner.email, { messageId: '<once@example.com>' }))
    const again = { raw, envelope: { from: owner.email, to: agent.address } }
    await post(service, again)
    await Promise.all([post(service, again), post(service, again)])
    await receive(service, agent, letterTo(agent, owner.email, { subject: 'After' }))
    expect((await newest(agent, 10)).map(({ subject }: { subject: string }) => subject)).toEqual([
      'After',
      'Hi',
    ])
    expect((await eventsOf(agent)).map(({ id }: { id: number }) => id)).toEqual([1, 2])
  })

  test('with the same Message-ID and another body are separate messages', async () => {
    const agent = await agentWith('anyone', [])
    for (const text of ['one', 'two'])
      await post(service, letterTo(agent, owner.email, { messageId: '<same@example.com>', text }))
    expect((await newest(agent, 10)).map(({ text }: { text: string }) => text.trim())).toEqual(['two', 'one'])
    expect(await eventsOf(agent)).toHaveLength(2)
  })

  test('for two agents in one envelope are one message each, and the blind copy is not named', async () => {
    const [first, second] = [await agentWith('anyone', []), await agentWith('anyone', [])]
    await post(service, {
      from: owner.email,
      to: first.address,
      bcc: second.address,
      subject: 'Both',
      text: 'hi',
    })
    const [[one], [two]] = [await newest(first), await newest(second)]
    expect(one.id).not.toBe(two.id)
    expect(one).toMatchObject({ subject: 'Both', to: [first.address] })
    expect(two).toMatchObject({ subject: 'Both', to: [first.address] })
    expect(await eventsOf(first)).toHaveLength(1)
    expect(await eventsOf(second)).toHaveLength(1)
  })

  test('for one agent named several times in the envelope are one message', async () => {
    const agent = await agentWith('anyone', [])
    const [local, domain] = agent.address.split('@')
    const to = [agent.address, `${local}+tag@${domain}`, `${local!.toUpperCase()}@${domain!.toUpperCase()}`]
    await post(service, { from: owner.email, to, subject: 'Thrice', text: 'hi' })
    expect(await newest(agent, 10)).toHaveLength(1)
  })
})

describe('mail to the postmaster', () => {
  const outbox = async () => {
    const folder = join(service.dataDir, 'outbox')
    const files = existsSync(folder) ? await readdir(folder) : []
    return (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).filter((mail) =>
      mail.includes('For the postmaster'),
    )
  }
  const to = 'postmaster@agents.localhost'

  test('is forwarded to the owner of the first workspace, except automatic mail, so that none circulates', async () => {
    await post(service, {
      from: 'admin@listed.example',
      to,
      text: 'bounce',
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    await post(service, {
      from: 'admin@listed.example',
      to,
      subject: 'Your server',
      text: 'It greets oddly.',
    })
    const [letter, ...more] = await until(async () => {
      const mails = await outbox()
      return mails.length > 0 && mails
    })
    expect(more).toEqual([])
    expect(letter).toContain(`To: ${owner.email}`)
    expect(letter).toContain('Subject: For the postmaster: Your server')
    expect(letter).toContain('From: admin@listed.example (verified)')
    expect(letter).toContain('It greets oddly.')
  })
})

describe('recipients that do not exist', () => {
  test('get 550, and a known recipient beside them gets the mail', async () => {
    const agent = await agentWith('anyone', [])
    await expect(
      post(service, { from: owner.email, to: 'nobody@agents.localhost', text: 'x' }),
    ).rejects.toMatchObject({
      responseCode: 550,
    })
    await expect(
      post(service, { from: owner.email, to: 'x@elsewhere.example', text: 'x' }),
    ).rejects.toMatchObject({ responseCode: 550 })
    const both = await post(service, {
      from: owner.email,
      to: [agent.address, 'nobody@agents.localhost'],
      text: 'x',
    })
    expect(both).toMatchObject({ accepted: [agent.address], rejected: ['nobody@agents.localhost'] })
    expect(await newest(agent, 10)).toHaveLength(1)
  })
})
