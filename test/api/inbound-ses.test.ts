import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { MAIL_SERVER, proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { newest } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import {
  type Api,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { CERTIFICATE_URL, certificateUrl, createSigner, type Signer, TOPIC } from '../support/sns.ts'

/** `POST /inbound/ses`: mail that Amazon SES received, through a topic of Amazon SNS. */

const CHINA = 'arn:aws-cn:sns:cn-north-1:123456789012:mail'
const log = createTestLog()
/** Responses of the internet by URL, and the URLs that were fetched. */
const internet = new Map<string, Buffer>()
const fetched: string[] = []
let clock: FakeClock
let signer: Signer
let service: TestService
let owner: Tenant
let agent: TestAgent
let api: Api
beforeAll(async () => {
  clock = createFakeClock()
  signer = await createSigner()
  internet.set(CERTIFICATE_URL, Buffer.from(signer.certificate))
  service = await startService({
    environment: { SES_TOPIC_ARN: `${TOPIC},${TOPIC}-spare,${CHINA}` },
    log,
    world: {
      clock,
      resolver: fakeResolver(proves('example.com')),
      get: async (url) => {
        fetched.push(url)
        const answer = internet.get(url)
        if (!answer) throw new Error('the answer was 404')
        return answer
      },
    },
  })
  owner = await service.workspace('Acme', 'owner@example.com')
  agent = await createTestAgent(service, owner)
  api = apiOf(service.http, null)
})

type Fields = Record<string, string | undefined>
/** Posts as SNS does: JSON declared as text, with the topic in a header. */
const post = (message: unknown, to = api, headers: Record<string, string> = {}) =>
  to('POST', '/inbound/ses', typeof message === 'string' ? message : JSON.stringify(message), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'x-amz-sns-topic-arn': TOPIC,
    ...headers,
  })
const stored = () => service.db.prisma.message.count()

const rawOf = (subject: string, id = randomUUID()) =>
  `Return-Path: <owner@example.com>\r\nReceived: from mail.example.com (mail.example.com [${MAIL_SERVER}])\r\n by inbound-smtp.eu-west-1.amazonaws.com with SMTP id ses1abc\r\n for ${agent.address};\r\n Fri, 20 Nov 2026 09:30:00 +0000 (UTC)\r\nReceived: from laptop (evil [192.0.2.66]) by mail.example.com\r\nFrom: owner@example.com\r\nTo: ${agent.address}\r\nSubject: ${subject}\r\nMessage-ID: <${id}@example.com>\r\n\r\nhellö\r\n`

/**
 * The content of `Message` as SES writes it
 * (docs.aws.amazon.com/ses/latest/dg/receiving-email-notifications-contents.html).
 */
const received = (raw: string, encoding: 'BASE64' | 'UTF8' = 'BASE64', recipients = [agent.address]) => ({
  notificationType: 'Received',
  mail: {
    timestamp: '2026-11-20T09:30:00.000Z',
    source: 'owner@example.com',
    messageId: 'ses1abc',
    destination: recipients,
    headersTruncated: false,
  },
  receipt: {
    timestamp: '2026-11-20T09:30:00.000Z',
    processingTimeMillis: 500,
    recipients,
    spamVerdict: { status: 'PASS' },
    virusVerdict: { status: 'PASS' },
    spfVerdict: { status: 'FAIL' },
    dkimVerdict: { status: 'GRAY' },
    dmarcVerdict: { status: 'FAIL' },
    action: { type: 'SNS', topicArn: TOPIC, encoding },
  },
  content: encoding === 'BASE64' ? Buffer.from(raw).toString('base64') : raw,
})

const notification = (message: unknown, more: Fields = {}): Fields => ({
  Type: 'Notification',
  MessageId: randomUUID(),
  TopicArn: TOPIC,
  Subject: 'Amazon SES Email Receipt Notification',
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  Timestamp: clock.now().toISOString(),
  ...more,
})

describe('a mail from SES', () => {
  test.each([
    ['base64, signed with SHA-256', 'BASE64', '2'],
    ['UTF-8, signed with SHA-1', 'UTF8', '1'],
  ] as const)(
    'in %s, is stored before the response and checked by the service',
    async (subject, encoding, version) => {
      const raw = rawOf(subject)
      expect((await post(signer.sign(notification(received(raw, encoding)), version))).status).toBe(200)
      const [message] = await newest(agent)
      expect(message).toMatchObject({ subject, text: 'hellö', status: 'received', admission: 'team' })
      // The remote IP is in the topmost header, which SES added; the verdicts of SES decide nothing.
      expect(message.checks).toContainEqual(expect.objectContaining({ name: 'spf', verdict: 'pass' }))
      expect(message.checks).toContainEqual({
        name: 'ses',
        verdict: 'none',
        detail:
          'Amazon SES reports spf FAIL, dkim GRAY, dmarc FAIL, spam PASS, virus PASS; for information only',
      })
      expect((await agent.api('GET', `/agents/${agent.id}/messages/${message.id}/raw`)).text).toBe(raw)
    },
  )

  test('is accepted without a Subject or with a null one, as SNS may send it', async () => {
    const plain = signer.sign(notification(received(rawOf('No subject')), { Subject: undefined }))
    expect((await post(plain)).status).toBe(200)
    const nothing = {
      ...signer.sign(notification(received(rawOf('Null subject')), { Subject: undefined })),
      Subject: null,
    }
    expect((await post(nothing)).status).toBe(200)
  })

  test('is stored once when it is repeated, with and without a Message-ID', async () => {
    for (const raw of [rawOf('Once'), 'From: owner@example.com\r\n\r\nping\r\n']) {
      const message = signer.sign(notification(received(raw)))
      const before = await stored()
      for (let n = 0; n < 3; n++) expect((await post(message)).status).toBe(200)
      expect(await stored()).toBe(before + 1)
    }
  })

  test('is not admitted because of the verdicts of SES', async () => {
    const forged = rawOf('Forged').replace(MAIL_SERVER, '192.0.2.1')
    const believed = received(forged)
    for (const name of ['spfVerdict', 'dkimVerdict', 'dmarcVerdict'] as const)
      believed.receipt[name] = { status: 'PASS' }
    expect((await post(signer.sign(notification(believed)))).status).toBe(200)
    expect((await newest(agent))[0]).toMatchObject({ subject: 'Forged', refusal: 'unverified' })
  })

  test.each<[string, (raw: string) => string]>([
    ['that has the id of another mail', (raw) => raw.replace('ses1abc', 'guessed')],
    ['below a header that SES did not write', (raw) => `X-Note: a rule of the operator\r\n${raw}`],
    [
      'below one of another server',
      (raw) => `Received: from relay (relay [192.0.2.9]) by mx.example.com; x\r\n${raw}`,
    ],
    [
      'of another server',
      (raw) =>
        raw.replace(
          'inbound-smtp.eu-west-1.amazonaws.com',
          'inbound-smtp.eu-west-1.amazonaws.com.evil.example',
        ),
    ],
    ['far from the top', (raw) => raw.replace('Return-Path: <', `Return-Path: <${'a'.repeat(5_000)}`)],
  ])('with a Received header %s is unverified', async (_, change) => {
    expect((await post(signer.sign(notification(received(change(rawOf('Unsure'))))))).status).toBe(200)
    const [message] = await newest(agent)
    expect(message).toMatchObject({ subject: 'Unsure', refusal: 'unverified' })
    expect(message.checks).not.toContainEqual(expect.objectContaining({ name: 'spf', verdict: 'pass' }))
  })

  test('without a known recipient is not_found, and with one among others is accepted', async () => {
    expectFailure(
      await post(signer.sign(notification(received(rawOf('x'), 'UTF8', ['nobody@agents.localhost'])))),
      'not_found',
    )
    const mixed = received(rawOf('Mixed'), 'UTF8', ['nobody@agents.localhost', agent.address.toUpperCase()])
    expect((await post(signer.sign(notification(mixed)))).status).toBe(200)
    expect((await newest(agent))[0]).toMatchObject({ subject: 'Mixed' })
  })

  test.each<[string, (mail: ReturnType<typeof received>) => unknown, RegExp]>([
    [
      'without its content (an S3 action)',
      ({ content: _, ...rest }) => rest,
      /^content: is missing: the rule needs an SNS action/,
    ],
    ['with an empty content', (mail) => ({ ...mail, content: '' }), /^content: is missing/],
    [
      'that is a bounce notification',
      (mail) => ({ ...mail, notificationType: 'Bounce' }),
      /^notificationType: must be Received/,
    ],
    ['without recipients', (mail) => ({ ...mail, receipt: {} }), /^receipt\.recipients: must name/],
    [
      'with numbers as recipients',
      (mail) => ({ ...mail, receipt: { recipients: [1] } }),
      /^receipt\.recipients: must name/,
    ],
    ['that is null', () => null, /^notificationType/],
    [
      'that is plain text',
      () => 'Successfully validated SNS topic for Amazon SES event publishing.',
      /^Message: must be/,
    ],
  ])('%s is refused, and the reason is logged', async (_, change, says) => {
    const before = await stored()
    const answer = await post(signer.sign(notification(change(received(rawOf('x'))))))
    expectFailure(answer, 'invalid_input', says)
    expect(log.text()).toContain(answer.body.error.message)
    expect(await stored()).toBe(before)
  })
})

describe('a notification that is not authentic', () => {
  const signed = () => signer.sign(notification(received(rawOf('x'))))
  test.each<[string, () => Fields]>([
    ['another topic', () => signer.sign(notification(received(rawOf('x')), { TopicArn: `${TOPIC}-of-eve` }))],
    ['no signature', () => ({ ...signed(), Signature: '' })],
    ['a signature of something else', () => ({ ...signed(), Signature: signed().Signature })],
    ['a changed message', () => ({ ...signed(), Message: '{}' })],
    ['a changed id', () => ({ ...signed(), MessageId: 'x' })],
    ['a changed subject', () => ({ ...signed(), Subject: 'x' })],
    ['a changed type', () => ({ ...signed(), Type: 'UnsubscribeConfirmation' })],
    ['the other signature version', () => ({ ...signed(), SignatureVersion: '1' })],
    ['an unknown signature version', () => ({ ...signed(), SignatureVersion: 'toString' })],
    ...[
      'http://sns.eu-west-1.amazonaws.com/a.pem',
      'https://sns.eu-west-1.amazonaws.com.evil.example/a.pem',
      'https://evil.example/sns.eu-west-1.amazonaws.com/a.pem',
      'https://sns.eu-west-1.amazonaws.com@evil.example/a.pem',
      'https://sns.eu-west-1.amazonaws.com:8443/a.pem',
      'https://s3.amazonaws.com/eve/a.pem',
      'https://sns.evil.example.amazonaws.com/a.pem',
      'https://169.254.169.254/a.pem',
      'https://sns.eu-west-1.amazonaws.com/a.pem',
      `${CERTIFICATE_URL}?Action=GetTopicAttributes`,
      `${CERTIFICATE_URL}?`,
      `${CERTIFICATE_URL}#`,
      `${CERTIFICATE_URL}/..`,
      CERTIFICATE_URL.replace('/Simple', '//Simple'),
      CERTIFICATE_URL.replace('/Simple', '/x/Simple'),
      CERTIFICATE_URL.replace('.pem', '%2e%2e.pem'),
      CERTIFICATE_URL.replace('https://', 'https://eve@'),
      CERTIFICATE_URL.replace('.com/', '.com:443/'),
      CERTIFICATE_URL.replace('eu-west-1', 'us-east-1'),
      CERTIFICATE_URL.replace('.com/', '.com.cn/'),
      'file:///etc/passwd',
      'a.pem',
    ].map((url): [string, () => Fields] => [
      `the certificate URL ${url}`,
      () => ({ ...signed(), SigningCertURL: url }),
    ]),
  ])('with %s is refused with 403, and nothing is stored or fetched', async (_, message) => {
    await post(signed()) // caches the certificate
    const before = { stored: await stored(), fetched: fetched.length }
    expectFailure(await post(message()), 'forbidden')
    expect({ stored: await stored(), fetched: fetched.length }).toEqual(before)
  })

  test('signed with another key, whose certificate has the same name, is refused', async () => {
    expectFailure(
      await post((await createSigner()).sign(notification(received(rawOf('x'))))),
      'forbidden',
      /Signature/,
    )
  })

  const day = 86_400_000
  test.each([
    ['has expired', 'aaaaaaaa01', { from: new Date(Date.now() - 3 * day), to: new Date(Date.now() - day) }],
    [
      'is not valid yet',
      'aaaaaaaa02',
      { from: new Date(Date.now() + day), to: new Date(Date.now() + 3 * day) },
    ],
    ['has another name', 'aaaaaaaa03', { name: 'evil.example' }],
    ["has Amazon's name in part", 'aaaaaaaa04', { name: 'x.sns.amazonaws.com' }],
    ['has a wildcard for a name', 'aaaaaaaa05', { name: '*.amazonaws.com' }],
  ])('signed with a certificate that %s is refused', async (_, id, certified) => {
    const other = await createSigner(certified)
    internet.set(certificateUrl(id), Buffer.from(other.certificate))
    const message = other.sign(notification(received(rawOf('x')), { SigningCertURL: certificateUrl(id) }))
    expectFailure(await post(message), 'forbidden', /certificate is not one of Amazon SNS/)
  })

  test('with an unknown or missing topic in the header is refused before its body is parsed', async () => {
    for (const topic of [`${TOPIC}-of-eve`, ''])
      expectFailure(
        await post('{', api, { 'x-amz-sns-topic-arn': topic }),
        'forbidden',
        /^X-Amz-Sns-Topic-Arn/,
      )
    expectFailure(await post('{'), 'invalid_input')
  })
})

describe('the signing certificate', () => {
  test('is fetched once a day, also from a region in China', async () => {
    const url = certificateUrl('cccccccc', 'sns.cn-north-1.amazonaws.com.cn')
    const chinese = await createSigner({
      name: 'sns-cn-north-1.amazonaws.com.cn',
      to: new Date(Date.now() + 30 * 86_400_000),
    })
    internet.set(url, Buffer.from(chinese.certificate))
    const send = () =>
      post(
        chinese.sign(notification(received(rawOf('cert')), { SigningCertURL: url, TopicArn: CHINA })),
        api,
        {
          'x-amz-sns-topic-arn': CHINA,
        },
      )
    const times = () => fetched.filter((one) => one === url).length
    await Promise.all([send(), send(), send()])
    expect(times()).toBe(1)
    clock.advance(86_400_000 + 1)
    expect((await send()).status).toBe(200)
    expect(times()).toBe(2)
  })

  const buried = () => Buffer.from(`<Error><Message>\n${signer.certificate}\n</Message></Error>`)
  test.each<[string, string, () => Buffer | null]>([
    ['cannot be fetched', 'dddddddd01', () => null],
    ['is not a certificate', 'dddddddd02', () => Buffer.from('<html>')],
    ['is embedded in other text', 'dddddddd03', buried],
  ])(
    'that %s makes the response unavailable, so that SNS retries, until it can be fetched',
    async (_, id, content) => {
      const url = certificateUrl(id)
      const found = content()
      if (found) internet.set(url, found)
      const times = () => fetched.filter((one) => one === url).length
      const message = signer.sign(notification(received(rawOf('later')), { SigningCertURL: url }))
      expectFailure(await post(message), 'unavailable', /certificate/)
      internet.set(url, Buffer.from(signer.certificate))
      expectFailure(await post(message), 'unavailable', /certificate/)
      expect(times()).toBe(1) // a failed URL is not fetched again immediately
      clock.advance(20_000)
      expect((await post(message)).status).toBe(200)
      expect(times()).toBe(2)
    },
  )

  test('is fetched from at most 60 unknown URLs a minute, and cached ones stay usable', async () => {
    await post(signer.sign(notification(received(rawOf('known')))))
    clock.advance(60_000 - (clock.now().getTime() % 60_000))
    const before = fetched.length
    for (let n = 0; n < 70; n++) {
      const message = notification('x', {
        SigningCertURL: certificateUrl(`eeeeeeee${String(n).padStart(4, '0')}`),
      })
      expectFailure(await post(signer.sign(message)), 'unavailable')
    }
    expect(fetched.length - before).toBe(60)
    expect((await post(signer.sign(notification(received(rawOf('known')))))).status).toBe(200)
    clock.advance(60_000)
    expectFailure(
      await post(signer.sign(notification('x', { SigningCertURL: certificateUrl('eeeeeeeeffff') }))),
      'unavailable',
    )
    expect(fetched.length - before).toBe(61)
  })
})

describe('subscriptions', () => {
  const SUBSCRIBE = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`
  const confirmation = (more: Fields = {}): Fields => ({
    ...notification('You have chosen to subscribe to the topic.', {
      Type: 'SubscriptionConfirmation',
      Subject: undefined,
    }),
    Token: 'abc',
    SubscribeURL: SUBSCRIBE,
    ...more,
  })

  test('to a configured topic are confirmed', async () => {
    internet.set(SUBSCRIBE, Buffer.from('<ConfirmSubscriptionResponse/>'))
    expect((await post(signer.sign(confirmation()))).status).toBe(200)
    expect(fetched).toContain(SUBSCRIBE)
    expect(log.text()).toContain('subscribed to Amazon SNS topic')
  })

  test('that Amazon does not confirm are unavailable, so that SNS retries', async () => {
    expectFailure(
      await post(
        signer.sign(confirmation({ Token: 'late', SubscribeURL: SUBSCRIBE.replace('abc', 'late') })),
      ),
      'unavailable',
      /could not be confirmed/,
    )
  })

  test.each([
    ['to another topic', { TopicArn: 'arn:aws:sns:eu-west-1:666666666666:mail' }],
    ['with a URL of another host', { SubscribeURL: 'https://evil.example/' }],
    ['with a URL of an internal host', { SubscribeURL: 'http://169.254.169.254/' }],
    ['without a URL', { SubscribeURL: undefined }],
    [
      'with another action in their URL',
      { SubscribeURL: SUBSCRIBE.replace('ConfirmSubscription', 'Unsubscribe') },
    ],
    ['with another topic in their URL', { SubscribeURL: SUBSCRIBE.replace(TOPIC, `${TOPIC}-spare`) }],
    ['with another token in their URL', { SubscribeURL: SUBSCRIBE.replace('abc', 'abd') }],
    ['with an extra parameter in their URL', { SubscribeURL: `${SUBSCRIBE}&AuthenticateOnUnsubscribe=true` }],
    ['with a repeated action in their URL', { SubscribeURL: `${SUBSCRIBE}&Action=ConfirmSubscription` }],
    ['with another region in their URL', { SubscribeURL: SUBSCRIBE.replace('eu-west-1.a', 'us-east-1.a') }],
    ['with another path in their URL', { SubscribeURL: SUBSCRIBE.replace('/?', '/x?') }],
    ['with a fragment in their URL', { SubscribeURL: `${SUBSCRIBE}#` }],
  ])('%s are not confirmed', async (_, more) => {
    const before = fetched.length
    expectFailure(await post(signer.sign(confirmation(more))), 'forbidden')
    expect(fetched).toHaveLength(before)
  })

  test('that end are logged, and nothing is fetched', async () => {
    const before = fetched.length
    expect((await post(signer.sign(confirmation({ Type: 'UnsubscribeConfirmation' })))).status).toBe(200)
    expect(fetched).toHaveLength(before)
    expect(log.text()).toContain('topic unsubscribed')
  })
})

test.each([
  ['', /^body: must be JSON/],
  ['{', /^body: must be JSON/],
  ['null', /^body: must be a message/],
  ['[]', /^body: must be a message/],
  ['{}', /^Type: must be one of/],
  ['{"Type":"constructor"}', /^Type: must be one of/],
  ['{"Type":"Notification"}', /^MessageId: is required/],
  [JSON.stringify({ ...notificationOfNumbers(), Subject: 7 }), /^Subject: must be a string/],
])('the body %j is refused with invalid_input', async (body, says) => {
  expectFailure(await post(body), 'invalid_input', says)
})

function notificationOfNumbers() {
  const text = {
    MessageId: '1',
    TopicArn: '2',
    Message: '3',
    Timestamp: '4',
    SignatureVersion: '5',
    Signature: '6',
    SigningCertURL: '7',
  }
  return { Type: 'Notification', ...text }
}

test('without SES_TOPIC_ARN every notification is refused', async () => {
  const bare = await service.again({ SES_TOPIC_ARN: '' })
  const answer = await post(signer.sign(notification(received(rawOf('x')))), apiOf(bare.http, null))
  expectFailure(answer, 'forbidden', /SES_TOPIC_ARN is not set/)
})
