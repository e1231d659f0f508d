import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { DotStuffing } from '../../src/front/dot-stuffing.ts'
import { createAgentInEach, startCells, type TestCells } from '../support/cells.ts'
import { fakeResolver } from '../support/dns.ts'
import { newest, post } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { deliver } from '../support/mail.ts'
import { sendRaw } from '../support/raw-smtp.ts'
import { apiOf, createTestAgent, type TestAgent } from '../support/service.ts'
import { dialSmtp } from '../support/smtp-session.ts'
import { until } from '../support/until.ts'

/** Mail through a front to two installations. */

const log = createTestLog()
const CLIENT = '203.0.113.7'
let world: TestCells
let agents: [TestAgent, TestAgent]
beforeAll(async () => {
  world = await startCells({
    log,
    world: { resolver: fakeResolver({ 'example.com': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } }) },
    frontWorld: { smtpLimits: { beforeMailMs: 600_000 } },
  })
  agents = await createAgentInEach(world)
})
const both = () => agents.map(({ address }) => address)
const address = () => `${world.service.smtp.host}:${world.service.smtp.port}`
const from = 'ann@example.com'
const letterTo = (to: string[], subject: string) => ({
  ...{ from, to, subject, text: 'Hello', messageId: `<${randomUUID()}@example.com>`, date: new Date(0) },
})
const subjectsOf = async (agent: TestAgent) =>
  (await newest(agent, 50)).map(({ subject }: { subject: string }) => subject) as string[]
const countOf = async (agent: TestAgent, subject: string) =>
  (await subjectsOf(agent)).filter((each) => each === subject).length

test('one mail reaches the agents of both installations, once each', async () => {
  const { accepted, response } = await post(world.service, letterTo(both(), 'For both'))
  expect([accepted.length, response]).toEqual([2, '250 2.6.0 OK: message stored'])
  for (const agent of agents) expect(await countOf(agent, 'For both')).toBe(1)
})

test('the front takes TLS, and a session several mails', async () => {
  await deliver(address(), letterTo([agents[0].address], 'Encrypted'), { tls: true })
  expect(await countOf(agents[0], 'Encrypted')).toBe(1)
  const session = await dialSmtp(world.service.smtp.port)
  for (const [at, agent] of [...agents, ...agents].entries()) {
    expect(await session.send(`MAIL FROM:<${from}>`)).toMatch(/^250/)
    expect(await session.send(`RCPT TO:<${agent.address}>`)).toMatch(/^250/)
    expect(await session.send('DATA')).toMatch(/^354/)
    expect(await session.send(`From: ${from}\r\nSubject: Several ${at}\r\n\r\nhi\r\n.`)).toMatch(/^250/)
    // What is begun and given up leaves nothing behind.
    await session.send(`MAIL FROM:<${from}>`)
    await session.send(`RCPT TO:<${agents[1].address}>`)
    expect(await session.send('RSET')).toMatch(/^250/)
  }
  session.socket.destroy()
  expect((await subjectsOf(agents[0])).filter((each) => each.startsWith('Several'))).toEqual([
    'Several 2',
    'Several 0',
  ])
  expect((await subjectsOf(agents[1])).filter((each) => each.startsWith('Several'))).toEqual([
    'Several 3',
    'Several 1',
  ])
})

test('the installation sees the client’s address, name and parameters, and SPF is about them', async () => {
  const session = await dialSmtp(world.service.smtp.port, {
    ...{ header: `PROXY TCP4 ${CLIENT} 192.0.2.1 56324 25\r\n`, helo: 'mx.example.com' },
  })
  const mail = `MAIL FROM:<${from}> SIZE=100 BODY=8BITMIME SMTPUTF8`
  for (const line of [mail, `RCPT TO:<${agents[1].address}>`, 'DATA'])
    expect(await session.send(line)).toMatch(/^[23]5/)
  expect(await session.send(`From: ${from}\r\nSubject: Proven\r\n\r\nhi\r\n.`)).toMatch(/^250/)
  session.socket.destroy()
  const [message] = await newest(agents[1])
  expect(message.subject).toBe('Proven')
  expect(message.checks.find(({ name }: { name: string }) => name === 'spf')).toMatchObject({
    verdict: 'pass',
  })
  const sent = world.cells[1].smtpTap.sent()
  expect(sent).toContain('EHLO mx.example.com\r\n')
  expect(sent).toContain(`${mail}\r\n`)
})

test('a mail arrives byte for byte as it does without a front', async () => {
  const raw = readFileSync(join(import.meta.dirname, '../corpus/japanese-iso-2022-jp.eml'))
  const dotted = Buffer.concat([raw, Buffer.from('\r\n.\r\n..\r\n.x\r\n a.\r\n')])
  const storedFrom = async (server: string, bytes: Buffer): Promise<Buffer> => {
    expect(await sendRaw(server, from, agents[0].address, bytes)).toMatch(/^250/)
    const [{ id }] = await newest(agents[0])
    const query = 'select content from message_raw where message_id = $1'
    const { rows } = await world.cells[0].db.pool.query<{ content: Buffer }>(query, [id])
    return rows[0]!.content
  }
  const { host, port } = world.cells[0].smtp
  for (const bytes of [raw, dotted])
    expect(await storedFrom(address(), bytes)).toEqual(
      await storedFrom(`${host}:${port}`, Buffer.concat([Buffer.from('X-Other: 1\r\n'), bytes])).then((all) =>
        all.subarray('X-Other: 1\r\n'.length),
      ),
    )
})

describe('an installation’s refusals', () => {
  test('of recipients reach the sender, of others the front’s own', async () => {
    const session = await dialSmtp(world.service.smtp.port)
    await session.send(`MAIL FROM:<${from}>`)
    expect(await session.send('RCPT TO:<nobody@one.example>')).toBe('550 5.1.1 No such recipient here\r\n')
    expect(await session.send('RCPT TO:<someone@elsewhere.example>')).toMatch(/^550 .*relay denied/)
    expect(await session.send(`RCPT TO:<${agents[0].address.replace('@', '+tag@')}>`)).toMatch(/^250/)
    for (const postmaster of ['postmaster@two.example', 'Postmaster'])
      expect(await session.send(`RCPT TO:<${postmaster}>`)).toMatch(/^250/)
    session.socket.destroy()
  })

  test('of the data reach the sender', async () => {
    const closed = await world.cells[0].workspace()
    const agent = await createTestAgent(world.service, { api: apiOf(world.service.http, closed.token) })
    await expect(post(world.service, letterTo([agent.address], 'Not admitted'))).resolves.toMatchObject({
      response: expect.stringMatching(/^250/),
    })
    const large = {
      ...letterTo([agents[0].address], 'Too large'),
      text: randomBytes(20 * 1024 * 1024).toString('base64'),
    }
    await expect(post(world.service, large)).rejects.toMatchObject({ responseCode: 552 })
  })
})

test('mail follows an address to another installation', async () => {
  const owners = await Promise.all(
    world.cells.map(async (cell) => ({ api: apiOf(world.service.http, (await cell.workspace()).token) })),
  )
  const [leaving, arriving] = await Promise.all(owners.map((owner) => createTestAgent(world.service, owner)))
  await owners[1]!.api('PUT', `/agents/${arriving!.id}/access/email`, { admit: 'anyone', senders: [] })
  await post(world.service, letterTo([leaving!.address], 'Before it moves'))
  await owners[0]!.api('DELETE', `/agents/${leaving!.id}`)
  const values = [leaving!.address, arriving!.address]
  await world.cells[1].db.pool.query('update address set value = $1 where value = $2', values)
  await until(async () => {
    await post(world.service, letterTo([leaving!.address], 'After it')).catch(() => undefined)
    return (await countOf(arriving!, 'After it')) > 0
  })
})

describe('an installation that is down', () => {
  test('defers its own recipients; what is sent again arrives once everywhere', async () => {
    const letter = letterTo(both(), 'Deferred')
    await world.cells[1].smtpTap.cut()
    const session = await dialSmtp(world.service.smtp.port)
    await session.send(`MAIL FROM:<${from}>`)
    expect(await session.send(`RCPT TO:<${agents[1].address}>`)).toMatch(/^451/)
    expect(await session.send(`RCPT TO:<${agents[0].address}>`)).toMatch(/^250/)
    session.socket.destroy()
    const { rejected } = await post(world.service, letter)
    expect(rejected).toEqual([agents[1].address])
    await world.cells[1].smtpTap.mend()
    await post(world.service, letter)
    for (const agent of agents) expect(await countOf(agent, 'Deferred')).toBe(1)
  })

  test('after it has accepted its recipients, defers the whole mail, and copies are recognised', async () => {
    const raw = `From: ${from}\r\nTo: ${both().join(', ')}\r\nMessage-ID: <${randomUUID()}@example.com>\r\nSubject: Halfway\r\n\r\nhi`
    const send = async (meanwhile: () => Promise<void>) => {
      const session = await dialSmtp(world.service.smtp.port)
      await session.send(`MAIL FROM:<${from}>`)
      for (const to of both()) expect(await session.send(`RCPT TO:<${to}>`)).toMatch(/^250/)
      await meanwhile()
      expect(await session.send('DATA')).toMatch(/^354/)
      const reply = await session.send(`${raw}\r\n.`)
      session.socket.destroy()
      return reply
    }
    expect(await send(() => world.cells[1].smtpTap.cut())).toMatch(/^451/)
    expect(await countOf(agents[0], 'Halfway')).toBe(1)
    await world.cells[1].smtpTap.mend()
    expect(await send(async () => undefined)).toMatch(/^250/)
    for (const agent of agents) expect(await countOf(agent, 'Halfway')).toBe(1)
  })

  test('that does not say what it has either defers what it may have', async () => {
    const [, { httpTap, smtpTap }] = world.cells
    await Promise.all([httpTap.cut(), smtpTap.cut()])
    const session = await dialSmtp(world.service.smtp.port)
    await session.send(`MAIL FROM:<${from}>`)
    expect(await session.send('RCPT TO:<somebody-new@two.example>')).toMatch(/^451/)
    expect(await session.send(`RCPT TO:<${agents[0].address.replace('@', '+other@')}>`)).toMatch(/^250/)
    // It may have moved to the one that does not answer.
    expect(await session.send('RCPT TO:<nobody@one.example>')).toMatch(/^451/)
    expect(await session.send(`RCPT TO:<${agents[0].address}>`)).toMatch(/^250/)
    session.socket.destroy()
    await Promise.all([httpTap.mend(), smtpTap.mend()])
  })
})

describe('hostile clients', () => {
  test('that break off in the middle of a mail leave nothing', async () => {
    const session = await dialSmtp(world.service.smtp.port)
    await session.send(`MAIL FROM:<${from}>`)
    await session.send(`RCPT TO:<${agents[0].address}>`)
    await session.send('DATA')
    session.socket.write(`From: ${from}\r\nSubject: Broken off\r\n\r\n${'x'.repeat(100_000)}\r\n`)
    await until(() => world.cells[0].smtpTap.sent().includes('Subject: Broken off'))
    session.socket.destroy()
    await until(() => /mail passed on \{[^\n]*"code":421/.test(log.text()))
    await post(world.service, letterTo([agents[0].address], 'After it'))
    expect(await countOf(agents[0], 'Broken off')).toBe(0)
  })

  test('that leave while their recipients are looked up leave no session with the installation', async () => {
    const sessions = async () =>
      Number(
        /^ams_smtp_sessions (\d+)$/m.exec(await (await fetch(`${world.cells[0].http}/metrics`)).text())![1],
      )
    await until(async () => (await sessions()) === 0)
    const [local, domain] = agents[0].address.split('@')
    for (let n = 0; n < 10; n++) {
      const session = await dialSmtp(world.service.smtp.port)
      await session.send(`MAIL FROM:<${from}>`)
      session.socket.write(`RCPT TO:<${local}+${n}@${domain}>\r\n`)
      setImmediate(() => session.socket.resetAndDestroy())
      await until(() => session.socket.closed)
    }
    await until(async () => (await sessions()) === 0)
  })

  test('cannot hide a second mail in the first', async () => {
    const hidden =
      'MAIL FROM:<evil@example.com>\r\nRCPT TO:<x@one.example>\r\nDATA\r\nSubject: Smuggled\r\n\r\nhi\r\n'
    for (const end of ['\n.\r\n', '\r\n.\n', '\n.\n', '\r.\r', '\r\n.\r'])
      expect(
        await sendRaw(
          address(),
          from,
          agents[0].address,
          Buffer.from(`Subject: Outer\r\n\r\nhi${end}${hidden}`),
        ),
      ).toMatch(/^\d{3} /)
    const subjects = await subjectsOf(agents[0])
    expect(subjects.filter((each) => each === 'Outer').length).toBeGreaterThan(0)
    expect(subjects).not.toContain('Smuggled')
  })
})

describe('the dots of a mail', () => {
  test.each(['.', '..\r\n.', 'a\r\n.b\r\n..\r\n', '\r\n.\r\n', 'a\n.\nb\r.', ''])(
    '%j, however it is cut',
    (text) => {
      const expected = `${text.replace(/^\./, '..').replaceAll('\r\n.', '\r\n..')}`
      const end = text === '' || text.endsWith('\r\n') ? '.\r\n' : '\r\n.\r\n'
      for (let cut = 0; cut <= text.length; cut++)
        for (let next = cut; next <= text.length; next++) {
          const dots = new DotStuffing()
          const parts = [text.slice(0, cut), text.slice(cut, next), text.slice(next)]
          const written = parts.flatMap((part) => dots.next(Buffer.from(part)))
          expect(Buffer.concat([...written, dots.end()]).toString()).toBe(expected + end)
        }
    },
  )
})
