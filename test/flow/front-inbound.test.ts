import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAgentInEach, startCells, type TestCells } from '../support/cells.ts'
import { expectFailure } from '../support/failure.ts'
import { type Handed, handOver, SECRET, signedHeaders } from '../support/inbound-http.ts'
import { newest } from '../support/letter.ts'
import { apiOf, createTestAgent, type TestAgent } from '../support/service.ts'
import { CERTIFICATE_URL, createSigner, type Signer, TOPIC } from '../support/sns.ts'
import { until } from '../support/until.ts'

/** Mail that is handed over by HTTP, through a front to two installations. */

let world: TestCells
let agents: [TestAgent, TestAgent]
let signer: Signer
/** URLs that the installations have fetched. */
const fetched: string[] = []
beforeAll(async () => {
  signer = await createSigner()
  const get = async (url: string) => {
    fetched.push(url)
    return Buffer.from(url === CERTIFICATE_URL ? signer.certificate : '')
  }
  world = await startCells({ environment: { INBOUND_SECRET: SECRET, SES_TOPIC_ARN: TOPIC }, world: { get } })
  agents = await createAgentInEach(world)
})
const base = () => world.service.http
const both = () => agents.map(({ address }) => address)
const from = 'ann@example.com'
const rawOf = (subject: string, text = 'Hello') =>
  `From: ${from}\r\nTo: ${both().join(', ')}\r\nMessage-ID: <${randomUUID()}@example.com>\r\nSubject: ${subject}\r\n\r\n${text}\r\n`
const countsOf = (subject: string) =>
  Promise.all(
    agents.map(
      async (agent) =>
        (await newest(agent, 50)).filter((each: { subject: string }) => each.subject === subject).length,
    ),
  )
const sent = () => world.cells.map(({ httpTap }) => httpTap.sent())
const hand = (subject: string, to: string[], more: Partial<Handed> = {}) =>
  handOver(base(), { raw: rawOf(subject), from, to, envelope: true, ...more })

describe('a mail', () => {
  test.each([true, false])(
    'reaches the agents of both installations, once each (newer form: %s)',
    async (envelope) => {
      const subject = `For both ${envelope}`
      const handed = { raw: rawOf(subject), from, to: both(), envelope }
      const { status, body } = await handOver(base(), handed)
      expect([status, body.accepted.toSorted(), body.rejected]).toEqual([200, both().toSorted(), []])
      expect(await countsOf(subject)).toEqual([1, 1])
      expect((await handOver(base(), handed)).status).toBe(200)
      expect(await countsOf(subject)).toEqual([1, 1])
    },
  )

  test('goes to nobody else, and names the recipients that nobody has', async () => {
    const tagged = agents[1].address.replace('@', '+tag@')
    const to = ['nobody@one.example', tagged, 'x@elsewhere.example', `<${agents[1].address}>`, 'no address']
    const { status, body } = await hand('For one', to)
    expect([status, body]).toEqual([
      200,
      {
        accepted: [agents[1].address],
        rejected: ['nobody@one.example', 'x@elsewhere.example', 'no address'],
      },
    ])
    expect(await countsOf('For one')).toEqual([0, 1])
  })

  test('for nobody is not found, once its signature has been checked', async () => {
    const to = ['nobody@one.example', 'nobody@elsewhere.example']
    expectFailure(await hand('For nobody', to), 'not_found')
    expectFailure(
      await handOver(base(), { raw: 'x', from, to, envelope: true }, 'another secret'),
      'forbidden',
    )
    expectFailure(
      await handOver(base(), { raw: 'x', from, to: ['x@elsewhere.example'] }, 'another'),
      'forbidden',
    )
  })

  test('that is refused gets the refusal of the installations', async () => {
    expectFailure(await hand('x', both(), { headers: { 'X-Timestamp': '1' } }), 'forbidden', /X-Timestamp/)
    expectFailure(
      await hand('x', both(), { headers: { 'X-Envelope-Signature': 'f'.repeat(64) } }),
      'forbidden',
    )
    expectFailure(await hand('x', both(), { headers: { 'X-Envelope-From': undefined } }), 'forbidden')
    expectFailure(await hand('x', Array(101).fill(agents[0].address)), 'invalid_input', /at most 100/)
    expectFailure(await hand('x', both(), { raw: '' }), 'invalid_input', /must be a message/)
    const long = randomBytes(20 * 1024 * 1024).toString('base64')
    expectFailure(await hand('x', both(), { raw: long }), 'invalid_input', /at most/, 413)
    expect((await fetch(`${base()}/inbound/email`)).status).toBe(405)
    expect((await fetch(`${base()}/inbound/other`, { method: 'POST' })).status).toBe(404)
  })

  test('that is broken off is stored nowhere', async () => {
    const raw = rawOf('Broken off', 'x'.repeat(100_000))
    const lines = signedHeaders({ raw, from, to: both(), envelope: true }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    const socket = connect(Number(new URL(base()).port), '127.0.0.1')
    socket.write(
      `POST /inbound/email HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    socket.write(`186a0\r\n${raw.slice(0, 100_000)}\r\n`)
    await until(() => sent().every((each) => each.includes('Subject: Broken off')))
    socket.destroy()
    expect((await hand('After it', both())).status).toBe(200)
    expect([await countsOf('Broken off'), await countsOf('After it')]).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('follows an address to another installation', async () => {
    const owners = await Promise.all(
      world.cells.map(async (cell) => ({ api: apiOf(base(), (await cell.workspace()).token) })),
    )
    const [leaving, arriving] = await Promise.all(
      owners.map((owner) => createTestAgent(world.service, owner)),
    )
    expect((await hand('Before', [leaving!.address])).status).toBe(200)
    await owners[0]!.api('DELETE', `/agents/${leaving!.id}`)
    const values = [leaving!.address, arriving!.address]
    await world.cells[1].db.pool.query('update address set value = $1 where value = $2', values)
    // The front only learns from the refusal that it has moved.
    const answers = [await hand('After', [leaving!.address, agents[0].address])]
    expectFailure(answers[0]!, 'unavailable')
    expect(answers[0]!.headers.get('retry-after')).toBe('2')
    const again = await hand('After', [leaving!.address, agents[0].address])
    expect([again.status, again.body.accepted.length]).toEqual([200, 2])
  })
})

describe('an installation that is down', () => {
  test('defers a mail that it may have to take, and copies are recognised', async () => {
    const handed = { raw: rawOf('Deferred'), from, to: both(), envelope: true }
    const [, { httpTap }] = world.cells
    await httpTap.cut()
    expectFailure(await handOver(base(), handed), 'unavailable')
    expectFailure(await hand('Unsure', ['new@two.example']), 'unavailable')
    expect((await hand('For the other', [agents[0].address])).status).toBe(200)
    await httpTap.mend()
    await until(async () => (await handOver(base(), handed)).status === 200)
    expect(await countsOf('Deferred')).toEqual([1, 1])
  })

  test('in the middle of a mail defers it', async () => {
    const raw = rawOf('Halfway', 'x'.repeat(2_000_000))
    const handed = { raw, from, to: both(), envelope: true }
    const lines = signedHeaders(handed).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = connect(Number(new URL(base()).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes
    })
    socket.write(
      `POST /inbound/email HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: ${raw.length}\r\n\r\n`,
    )
    socket.write(raw.slice(0, 1_000_000))
    await until(() => sent().every((each) => each.includes('Subject: Halfway')))
    await world.cells[1].httpTap.cut()
    socket.write(raw.slice(1_000_000))
    await until(() => answer.includes('"unavailable"'))
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    socket.destroy()
    await world.cells[1].httpTap.mend()
    await until(async () => (await handOver(base(), handed)).status === 200)
    expect(await countsOf('Halfway')).toEqual([1, 1])
  })
})

describe('a stranger', () => {
  test('cannot say for whom a mail is at an installation', async () => {
    const headers = { 'X-Forwarded-Recipients': '0' }
    const to = ['nobody@one.example', agents[0].address]
    const { status, body } = await hand('Not narrowed', to, { headers })
    expect([status, body.accepted]).toEqual([200, [agents[0].address]])
  })

  const forged = (client: string) =>
    handOver(
      base(),
      { raw: 'x', from, to: both(), envelope: true, headers: { 'X-Forwarded-For': client } },
      'another secret',
    )

  test('without the secret soon causes no more lookups', async () => {
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length < 150)
      statuses.push(
        ...(await Promise.all(Array.from({ length: 4 }, () => forged('203.0.113.9')))).map(
          (each) => each.status,
        ),
      )
    expect(statuses.filter((status) => status === 403).length).toBeGreaterThanOrEqual(100)
    const before = sent()
    const last = await forged('203.0.113.9')
    expectFailure(last, 'rate_limited')
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(sent()).toEqual(before)
    expectFailure(await forged('203.0.113.10'), 'forbidden')
    const genuine = { 'X-Forwarded-For': '203.0.113.10' }
    expect((await hand('From another', both(), { headers: genuine })).status).toBe(200)
  })

  test('who breaks off before the signature can be checked does not either', async () => {
    const handed = { raw: 'x'.repeat(1000), from, to: both(), headers: { 'X-Forwarded-For': '203.0.113.11' } }
    const lines = signedHeaders(handed, 'another secret').map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `POST /inbound/email HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: 1000\r\n\r\n`
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(Number(new URL(base()).port), '127.0.0.1')
      socket.on('error', () => undefined).write(`${head}x`)
      return socket
    })
    const metrics = async () => (await fetch(`${base()}/metrics`)).text()
    await until(async () => /^ams_front_open 100$/m.test(await metrics()))
    for (const socket of sockets) socket.destroy()
    await until(async () => /^ams_front_open 0$/m.test(await metrics()))
    let asked = 0
    await until(async () => {
      asked++
      return (await forged('203.0.113.11')).status === 429
    })
    expect(asked).toBeLessThan(50)
  })
})

describe('a notification of Amazon SES', () => {
  const post = (message: unknown) =>
    apiOf(base(), null)(
      'POST',
      '/inbound/ses',
      typeof message === 'string' ? message : JSON.stringify(message),
      {
        'Content-Type': 'text/plain; charset=UTF-8',
        'x-amz-sns-topic-arn': TOPIC,
      },
    )
  const notification = (subject: string, recipients: string[]) => ({
    ...{
      Type: 'Notification',
      MessageId: randomUUID(),
      TopicArn: TOPIC,
      Timestamp: new Date().toISOString(),
    },
    Message: JSON.stringify({
      notificationType: 'Received',
      mail: { source: from, messageId: 'ses1abc' },
      receipt: { recipients, action: { type: 'SNS', topicArn: TOPIC, encoding: 'BASE64' } },
      content: Buffer.from(rawOf(subject)).toString('base64'),
    }),
  })

  test('reaches the agents of both installations, once each', async () => {
    const message = signer.sign(notification('By SES', [...both(), 'nobody@one.example']))
    for (let times = 0; times < 2; times++) {
      const { status, body } = await post(message)
      expect([status, body.accepted.toSorted(), body.rejected]).toEqual([
        200,
        both().toSorted(),
        ['nobody@one.example'],
      ])
    }
    expect(await countsOf('By SES')).toEqual([1, 1])
  })

  test('is deferred while an installation is down, and refused if it is not signed, or for nobody', async () => {
    const message = signer.sign(notification('SES later', both()))
    await world.cells[1].httpTap.cut()
    expectFailure(await post(message), 'unavailable')
    await world.cells[1].httpTap.mend()
    await until(async () => (await post(message)).status === 200)
    expect(await countsOf('SES later')).toEqual([1, 1])
    expectFailure(await post({ ...message, MessageId: 'another' }), 'forbidden')
    expectFailure(await post(signer.sign(notification('x', ['nobody@elsewhere.example']))), 'not_found')
    expectFailure(await post('x'.repeat(1024 * 1024 + 1)), 'invalid_input', /at most/)
    expectFailure(await post('{'), 'invalid_input')
  })

  test('that confirms the subscription is for any installation', async () => {
    const [Token, Type] = ['t'.repeat(20), 'SubscriptionConfirmation']
    const SubscribeURL = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=${Token}`
    const message = { ...notification('x', []), Type, Message: 'Confirm.', Token, SubscribeURL }
    expect((await post(signer.sign(message))).status).toBe(200)
    expect(fetched.filter((url) => url === SubscribeURL)).toHaveLength(1)
  })
})

test('a long mail arrives in both as it was, while it is sent', async () => {
  const raw = rawOf(
    'Long',
    randomBytes(6 * 1024 * 1024)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n'),
  )
  const headers = signedHeaders({ raw, from, to: both(), envelope: true })
  const socket = connect(Number(new URL(base()).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = `Content-Length: ${Buffer.byteLength(raw)}\r\nExpect: 100-continue\r\nConnection: close\r\n`
  socket.write(`POST /inbound/email HTTP/1.1\r\nHost: x\r\n${lines}${length}\r\n`)
  await until(() => answer.startsWith('HTTP/1.1 100 '))
  socket.write(raw.slice(0, 300_000))
  await until(() => sent().every((each) => each.includes('Subject: Long')))
  expect(await countsOf('Long')).toEqual([0, 0])
  socket.write(raw.slice(300_000))
  await until(() => answer.includes('"accepted"'))
  expect(await countsOf('Long')).toEqual([1, 1])
  for (const [at, agent] of agents.entries()) {
    const [{ id }] = await newest(agent)
    const query = 'select octet_length(content) as bytes from message_raw where message_id = $1'
    const { rows } = await world.cells[at]!.db.pool.query(query, [id])
    expect(rows).toEqual([{ bytes: Buffer.byteLength(raw) }])
  }
})
