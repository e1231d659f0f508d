import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError, type Environment, readConfig } from '../../src/config/config.ts'
import { ownCertificate } from '../../src/mail/receive/tls.ts'

const dir = mkdtempSync(join(tmpdir(), 'ams-config-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const KEY = Buffer.alloc(32, 7).toString('base64')

function problems(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('an empty environment gives the defaults', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 4000,
    dataDir: join(process.cwd(), 'data'),
    masterKeys: [],
    ownerEmail: 'owner@localhost',
    roles: new Set(['api', 'smtp', 'worker']),
    cells: [],
    cellSecret: undefined,
    mailDomain: 'agents.localhost',
    mailHost: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 2525, tls: undefined, relayUrl: undefined, direct: false },
    dnsServers: [],
    telegram: { managerToken: undefined, apiUrl: 'https://api.telegram.org' },
    inboundSecrets: [],
    sesTopics: [],
    webhookAllow: [],
    trustProxy: [],
    rateLimit: 600,
    drainSeconds: 0,
    graphql: { introspection: true },
    plan: 'unlimited',
    logLevel: 'info',
    logSample: 1,
    unknown: [],
    tracing: { endpoint: undefined, serviceName: 'agent-messaging-service' },
  })
})

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASEURL', 'DATABASE_URL'],
  ['MATSER_KEY', 'MASTER_KEY'],
  ['data_dirs', 'DATA_DIR'],
])('%s is not taken for a setting, and ends the start', (given, meant) => {
  expect(problems({ [given]: 'x' })).toEqual([
    `${given} is not a setting; ${meant} is. Correct its name, or remove it.`,
  ])
})

test('variables of others are left alone, and those that begin as settings do are named', () => {
  const others = { HOSTS: 'x', PORTS: 'x', DB_URL: 'x', PATH: 'x', SMTP_USER: 'ann', DATABASE_POOL_SIZE: '5' }
  expect(readConfig(others).unknown).toEqual(['SMTP_USER', 'DATABASE_POOL_SIZE'])
  // Both are set: one of them may be for another program.
  expect(problems({ DATA_DIR: '/x', DATA_DIRS: '/x' })).toEqual([])
})

test('an empty variable counts as not set', () => {
  expect(readConfig({ PORT: '', OWNER_TOKEN: '', ROLES: '' })).toEqual(readConfig({}))
})

test('every setting can be set', async () => {
  const pair = await ownCertificate(dir, 'mx.example.com', new Date())
  const [cert, key] = [join(dir, 'smtp.crt'), join(dir, 'smtp.key')]
  const operations = join(dir, 'operations.json')
  writeFileSync(operations, JSON.stringify({ viewer: '{ viewer { id } }' }))
  const config = readConfig({
    HOST: '::1',
    PORT: '0',
    PUBLIC_URL: 'https://ams.example.com/base/',
    MESSAGE_URL_BASE: 'https://m.example.com',
    DATA_DIR: '/var/lib/ams',
    DATABASE_URL: 'postgres://u:p@pooler/ams?sslmode=require',
    DATABASE_DIRECT_URL: 'postgres://u:p@db/ams?sslmode=require',
    DATABASE_READ_URL: 'postgres://u:p@replica/ams',
    MASTER_KEY: KEY,
    BLOB_URL: 's3://mails/ams?region=eu-1',
    BLOB_MIN_BYTES: '0',
    AWS_ACCESS_KEY_ID: 'AKIA1',
    AWS_SECRET_ACCESS_KEY: 'a/secret+key',
    AWS_SESSION_TOKEN: 'session',
    AWS_ENDPOINT_URL_S3: 'https://s3.example.com/base/',
    OWNER_EMAIL: 'ann@example.com',
    OWNER_TOKEN: 'a token of mine, spaces and all',
    ROLES: 'api, worker',
    MAIL_DOMAIN: 'Agents.Example.com',
    MAIL_HOST: 'MX.example.com',
    SMTP_HOST: '0.0.0.0',
    SMTP_PORT: '25',
    SMTP_TLS_CERT: cert,
    SMTP_TLS_KEY: key,
    SMTP_RELAY_URL: 'smtps://u:p@relay.example.com:465?pool=true',
    DNS_SERVERS: '127.0.0.1:5353, ::1, [::1]:5353, 9.9.9.9',
    SES_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:mail',
    INBOUND_SECRET: 'the-new-one-16-long, the-one-before-it',
    CELL_SECRET: 'shared-by-fronts-and-installations',
    RSPAMD_URL: 'http://127.0.0.1:11333/',
    TWILIO_ACCOUNT_SID: 'AC123',
    TWILIO_AUTH_TOKEN: 'secret',
    TWILIO_API_URL: 'http://127.0.0.1:9999',
    TELEGRAM_MANAGER_TOKEN: '123:abc',
    TELEGRAM_API_URL: 'http://127.0.0.1:9998',
    WEBHOOK_ALLOW: 'LOCALHOST:8080, 10.0.0.0/8, ::1/128, [::1]:9000, 127.0.0.1, hooks.internal',
    TRUST_PROXY: '10.0.0.0/8, 2001:DB8::1',
    RATE_LIMIT: '1000',
    DRAIN_SECONDS: '15',
    PERSISTED_ONLY: operations,
    INTROSPECTION: 'off',
    PLAN: 'free',
    LOG_LEVEL: 'debug',
    LOG_SAMPLE: '0.25',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_SERVICE_NAME: 'mailroom',
  })
  expect(config).toEqual({
    host: '::1',
    port: 0,
    publicUrl: 'https://ams.example.com/base',
    messageUrlBase: 'https://m.example.com',
    dataDir: '/var/lib/ams',
    databaseUrl: 'postgres://u:p@pooler/ams?sslmode=require',
    databaseDirectUrl: 'postgres://u:p@db/ams?sslmode=require',
    databaseReadUrl: 'postgres://u:p@replica/ams',
    masterKeys: [Buffer.alloc(32, 7)],
    objectStore: {
      url: 'https://s3.example.com/base/mails',
      prefix: 'ams/',
      region: 'eu-1',
      accessKeyId: 'AKIA1',
      secretAccessKey: 'a/secret+key',
      sessionToken: 'session',
      minBytes: 0,
    },
    ownerEmail: 'ann@example.com',
    ownerToken: 'a token of mine, spaces and all',
    roles: new Set(['api', 'worker']),
    cells: [],
    cellSecret: 'shared-by-fronts-and-installations',
    mailDomain: 'agents.example.com',
    mailHost: 'mx.example.com',
    smtp: {
      host: '0.0.0.0',
      port: 25,
      tls: { ...pair, certFile: cert, keyFile: key },
      relayUrl: 'smtps://u:p@relay.example.com:465?pool=true',
      direct: false,
    },
    dnsServers: ['127.0.0.1:5353', '[::1]:53', '[::1]:5353', '9.9.9.9:53'],
    rspamdUrl: 'http://127.0.0.1:11333',
    twilio: { accountSid: 'AC123', authToken: 'secret', apiUrl: 'http://127.0.0.1:9999' },
    telegram: { managerToken: '123:abc', apiUrl: 'http://127.0.0.1:9998' },
    sesTopics: ['arn:aws:sns:eu-west-1:123456789012:mail'],
    inboundSecrets: ['the-new-one-16-long', 'the-one-before-it'],
    webhookAllow: ['localhost:8080', '10.0.0.0/8', '::1/128', '[::1]:9000', '127.0.0.1', 'hooks.internal'],
    trustProxy: ['10.0.0.0/8', '2001:db8::1'],
    rateLimit: 1000,
    drainSeconds: 15,
    graphql: { persisted: new Map([['viewer', '{ viewer { id } }']]), introspection: false },
    plan: 'free',
    logLevel: 'debug',
    logSample: 0.25,
    unknown: [],
    tracing: { endpoint: 'http://collector:4318', serviceName: 'mailroom' },
  })
})

test.each([
  'postgresql:///ams?host=/run/postgresql',
  'postgresql:///ams?host=/run/postgresql&user=ann&password=p',
  'postgres://ann@/ams?host=/run/postgresql',
  'postgresql://ann:p@%2Frun%2Fpostgresql/ams',
])('DATABASE_URL may name a Unix socket: %s', (url) => {
  expect(readConfig({ DATABASE_URL: url, MASTER_KEY: KEY }).databaseUrl).toBe(url)
})

test.each([
  ['MASTER_KEY', ','],
  ['MASTER_KEY', `${KEY},`],
  ['MASTER_KEY', `${KEY},short`],
])('%s=%s is refused because it is not a key', (name, value) => {
  expect(problems({ [name]: value })).toEqual([
    `MASTER_KEY is a value of ${value.length} characters (not shown); it takes 32 bytes in base64 (openssl rand -base64 32).`,
  ])
})

test.each(['postgresql:///ams', 'postgresql:///ams?host=', 'postgresql://', 'mysql:///ams?host=/run/mysql'])(
  'DATABASE_URL=%s is refused because it does not name a PostgreSQL server',
  (url) => {
    expect(problems({ DATABASE_URL: url, MASTER_KEY: KEY })).toEqual([
      expect.stringMatching(/^DATABASE_URL is .*postgresql:\/\/ or/),
    ])
  },
)

test.each([
  ['INTROSPECTION', 'false'],
  ['PERSISTED_ONLY', '/nowhere/operations.json'],
  ['PERSISTED_ONLY', import.meta.filename],
  ['PORT', '70000'],
  ['PORT', '-1'],
  ['PORT', '80a'],
  ['PORT', '1e3'],
  ['SMTP_PORT', ' 25'],
  ['TRUST_PROXY', 'proxy.internal'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['HOST', 'not a host'],
  ['PUBLIC_URL', 'ftp://example.com'],
  ['PUBLIC_URL', 'example.com'],
  ['PUBLIC_URL', 'https://example.com/?a=b'],
  ['MESSAGE_URL_BASE', '/a'],
  ['OWNER_EMAIL', 'owner'],
  ['OWNER_EMAIL', 'a b@example.com'],
  ['ROLES', 'api,web'],
  ['ROLES', ','],
  ['ROLES', 'front,api'],
  ['MAIL_DOMAIN', 'a..b'],
  ['MAIL_DOMAIN', '127.0.0.1'],
  ['SMTP_RELAY_URL', 'http://relay'],
  ['DNS_SERVERS', '1.1.1.1:99999'],
  ['DNS_SERVERS', 'ns.example.com'],
  ['DNS_SERVERS', '1.1.1.1, localhost:53'],
  ['RSPAMD_URL', 'localhost:11333'],
  ['SES_TOPIC_ARN', 'arn:aws:sqs:eu-west-1:123456789012:mail'],
  ['TELEGRAM_API_URL', 'x'],
  ['WEBHOOK_ALLOW', '10.0.0.0/33'],
  ['WEBHOOK_ALLOW', 'http://localhost'],
  ['PLAN', 'a plan'],
  ['LOG_LEVEL', 'loud'],
  ['LOG_SAMPLE', '0'],
  ['LOG_SAMPLE', '1.1'],
  ['LOG_SAMPLE', '10%'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_SERVICE_NAME', 'büro'],
])('the problem reported for %s=%s has the variable, its value and the expected format', (name, value) => {
  const [problem, ...more] = problems({ [name]: value })
  expect(more).toEqual([])
  expect(problem).toMatch(new RegExp(`^${name} is .+; it takes .+\\.$`))
  expect(problem).toContain(value.split('?')[0])
})

test.each([
  ['s3://mails', {}, 'https://mails.s3.us-east-1.amazonaws.com', ''],
  ['s3://mails/', { AWS_DEFAULT_REGION: 'eu-west-1' }, 'https://mails.s3.eu-west-1.amazonaws.com', ''],
  [
    's3://my.mails/a/b/',
    { AWS_REGION: 'cn-north-1' },
    'https://s3.cn-north-1.amazonaws.com.cn/my.mails',
    'a/b/',
  ],
  ['s3://mails/a', { AWS_ENDPOINT_URL: 'http://127.0.0.1:9000' }, 'http://127.0.0.1:9000/mails', 'a/'],
  [
    's3://mails?endpoint=http://[::1]:9000',
    { AWS_ENDPOINT_URL_S3: 'http://other' },
    'http://[::1]:9000/mails',
    '',
  ],
])('BLOB_URL=%s with %o is the bucket %s', (url, more, bucket, prefix) => {
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 'key' }
  const { objectStore } = readConfig({ BLOB_URL: url, ...credentials, ...more })
  expect(objectStore).toMatchObject({ url: bucket, prefix, minBytes: 2048 })
})

test.each([
  's3://',
  's3://a',
  'http://mails',
  's3://id:secret@mails',
  's3://mails//x',
  's3://mails/a b',
  's3://mails?key=x',
])('BLOB_URL=%s is refused, and what it takes is said', (url) => {
  const [problem, ...others] = problems({ BLOB_URL: url, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  expect(others).toEqual([])
  expect(problem).toMatch(/^BLOB_URL is .*; it takes s3:\/\/BUCKET/)
  expect(problem).not.toContain('secret')
})

test('BLOB_URL requires credentials, and without it those of other programs are not looked at', () => {
  expect(problems({ BLOB_URL: 's3://mails' })).toEqual([
    'AWS_ACCESS_KEY_ID is not set; BLOB_URL needs it.',
    'AWS_SECRET_ACCESS_KEY is not set; BLOB_URL needs it.',
  ])
  expect(problems({ AWS_REGION: 'not a region', AWS_ENDPOINT_URL: 'nonsense' })).toEqual([])
})

describe('a front', () => {
  const CELL_SECRET = 'x'.repeat(32)
  const front = (CELLS: string) => ({ ROLES: 'front', CELLS, CELL_SECRET })

  test('has installations, each with a place for HTTP and one for mail', () => {
    const cells = 'http://10.0.0.1:4000 smtp://10.0.0.1:2525, https://two.example/  smtp://[::1]'
    expect(readConfig(front(cells)).cells).toEqual([
      { http: 'http://10.0.0.1:4000', smtp: { host: '10.0.0.1', port: 2525 } },
      { http: 'https://two.example', smtp: { host: '::1', port: 25 } },
    ])
  })

  test.each([
    'http://one.example',
    'smtp://one.example http://one.example',
    'http://one.example/path smtp://one.example',
    'http://one.example?a=b smtp://one.example',
    'http://ann:s3cr3t@one.example smtp://one.example',
    'http://one.example smtp://one.example smtp://two.example',
  ])('takes no installations like %s', (cells) => {
    const [problem] = problems(front(cells))
    expect(problem).toMatch(/^CELLS is .*; it takes installations, comma-separated, each as http:/)
    expect(problem).not.toContain('s3cr3t')
  })

  test('needs installations and their secret, and others have none', () => {
    const cells = 'http://one.example smtp://one.example'
    expect(problems({ ROLES: 'front', CELLS: cells })).toEqual([
      'ROLES is "front"; it needs CELLS and CELL_SECRET.',
    ])
    expect(problems({ CELLS: cells })).toEqual([
      expect.stringMatching(/^CELLS is set, but ROLES is not "front"/),
    ])
    expect(problems(front(`${cells}, ${cells}`))).toEqual([
      expect.stringMatching(/^CELLS names an installation twice/),
    ])
  })
})

test('all problems are reported together', () => {
  expect(problems({ PORT: 'x', LOG_LEVEL: 'y', ROLES: 'z' })).toHaveLength(3)
})

test('no problem message contains a secret', () => {
  const secret = 's3cr3t'
  const all = problems({
    MASTER_KEY: secret,
    INBOUND_SECRET: secret,
    CELL_SECRET: secret,
    OWNER_TOKEN: secret,
    TELEGRAM_MANAGER_TOKEN: secret,
    TWILIO_ACCOUNT_SID: 'AC1',
    TWILIO_AUTH_TOKEN: `${secret} with a space`,
    DATABASE_URL: `mysql://ann:${secret}@db/x?password=${secret}`,
    SMTP_RELAY_URL: `smtp//ann:${secret}@relay`,
    RSPAMD_URL: `http://127.0.0.1/?password=${secret}`,
    BLOB_URL: `s3://id:${secret}@mails`,
    AWS_ACCESS_KEY_ID: `${secret} with a space`,
    AWS_SECRET_ACCESS_KEY: `${secret} with a space`,
  })
  expect(all.map((problem) => problem.split(' ')[0]).sort()).toEqual([
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'BLOB_URL',
    'CELL_SECRET',
    'DATABASE_URL',
    'INBOUND_SECRET',
    'MASTER_KEY',
    'OWNER_TOKEN',
    'RSPAMD_URL',
    'SMTP_RELAY_URL',
    'TELEGRAM_MANAGER_TOKEN',
    'TWILIO_AUTH_TOKEN',
  ])
  expect(all.join()).not.toContain(secret)
})

test.each([31, 33])('a master key of %i bytes is refused', (bytes) => {
  expect(problems({ MASTER_KEY: Buffer.alloc(bytes).toString('base64') })).toHaveLength(1)
})

test('DATABASE_URL requires MASTER_KEY', () => {
  expect(problems({ DATABASE_URL: 'postgresql://db/ams' })).toEqual([
    expect.stringMatching(/^MASTER_KEY is not set; with DATABASE_URL/),
  ])
  expect(problems({ DATABASE_URL: 'postgresql://db/ams', MASTER_KEY: KEY })).toEqual([])
})

test.each([
  ['SMTP_TLS_CERT', 'SMTP_TLS_KEY'],
  ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
])('%s without %s is refused', (one, other) => {
  writeFileSync(join(dir, 'file'), '')
  const value = one === 'SMTP_TLS_CERT' ? join(dir, 'file') : 'AC1'
  expect(problems({ [one]: value })).toEqual([`${other} is not set; ${one} and ${other} go together.`])
})

test('direct delivery and a relay cannot both be set', () => {
  expect(problems({ SMTP_DIRECT: 'on', SMTP_RELAY_URL: 'smtp://relay' })).toEqual([
    'SMTP_DIRECT is "on" and SMTP_RELAY_URL is set; use only one of them.',
  ])
  expect(problems({ SMTP_DIRECT: 'yes' })).toEqual(['SMTP_DIRECT is "yes"; it takes on or off.'])
  expect(readConfig({ SMTP_DIRECT: 'on' }).smtp.direct).toBe(true)
})

test('a certificate file that cannot be read is named in the problem', () => {
  const path = join(dir, 'none.pem')
  expect(problems({ SMTP_TLS_CERT: path, SMTP_TLS_KEY: path })[0]).toBe(
    `SMTP_TLS_CERT is "${path}"; it takes a file that can be read (ENOENT).`,
  )
  execFileSync('mkfifo', [path])
  expect(problems({ SMTP_TLS_CERT: path, SMTP_TLS_KEY: path })[0]).toBe(
    `SMTP_TLS_CERT is "${path}"; it takes a file, and this is not one.`,
  )
})

test('an invalid certificate, or one that does not match the key, is refused', async () => {
  await ownCertificate(dir, 'mx.example.com', new Date())
  const other = mkdtempSync(join(dir, 'other-'))
  await ownCertificate(other, 'mx.example.com', new Date())
  const cert = join(dir, 'smtp.crt')
  expect(problems({ SMTP_TLS_CERT: cert, SMTP_TLS_KEY: join(dir, 'smtp.key') })).toEqual([])
  const [empty, cut] = [join(other, 'empty'), join(other, 'chain-cut-off')]
  writeFileSync(empty, '')
  const whole = readFileSync(cert, 'utf8')
  writeFileSync(cut, `${whole}\n${whole.slice(0, 200)}`)
  expect(problems({ SMTP_TLS_CERT: cut, SMTP_TLS_KEY: join(dir, 'smtp.key') })).toHaveLength(1)
  for (const wrong of [join(other, 'smtp.key'), cert, empty, import.meta.filename]) {
    expect(problems({ SMTP_TLS_CERT: cert, SMTP_TLS_KEY: wrong })).toEqual([
      expect.stringMatching(/^SMTP_TLS_CERT and SMTP_TLS_KEY do not match/),
    ])
  }
})

test.each([19, 201])('an owner token of %i characters is refused', (length) => {
  expect(problems({ OWNER_TOKEN: 'x'.repeat(length) })).toHaveLength(1)
})

test('the configuration is read-only', () => {
  const config = readConfig({})
  expect(() => Object.assign(config.smtp, { port: 1 })).toThrow(TypeError)
})
