import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { runDoctor } from '../../src/doctor/doctor.ts'
import type { Report } from '../../src/doctor/report.ts'
import { createPair, openTlsSession, servedSerial, writePair } from '../support/certificate.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, lives, run } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '..', '..')
let dataDir: string
let name: string
let settings: Record<string, string>
beforeAll(() => void execFileSync(process.execPath, [join(root, 'src', 'build.mjs')]), 120_000)
beforeEach(async () => {
  dataDir = temporaryDir()
  name = `certificate_${randomBytes(6).toString('hex')}`
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(inject('postgres').url, name),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    WEBHOOK_ALLOW: '127.0.0.1',
  }
})
afterEach(async () => {
  await cleanUp(dataDir)
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

const expiryAt = async (http: string): Promise<number> => {
  const page = await (await fetch(`${http}/metrics`)).text()
  const [, seconds] = /^ams_smtp_certificate_expiry_timestamp_seconds(?:\{.*\})? (\S+)$/m.exec(page) ?? []
  return Number(seconds) * 1000
}

/** Creates an agent that accepts mail from anyone, and returns its address. */
const createAddress = async (http: string): Promise<string> => {
  const owner = apiOf(http, settings.OWNER_TOKEN!)
  const { id } = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  return (await owner('GET', `/agents/${id}/addresses`)).body[0].value
}

const inUse = async (environment: Record<string, string>): Promise<boolean> => {
  const { text } = await runDoctor(environment, { json: true })
  return (JSON.parse(text) as Report).findings.every(
    ({ message }) => !message.startsWith('The service does not use the certificate of SMTP_TLS_CERT yet'),
  )
}

test('on SIGHUP a service takes a renewed certificate, loses no session, and goes on', async () => {
  const [first, second, third] = await Promise.all([createPair(10), createPair(20), createPair(30)])
  const files = writePair(dataDir, first!)
  const tls = { SMTP_TLS_CERT: files.certFile, SMTP_TLS_KEY: files.keyFile }
  const service = run({ ...settings, ...tls })
  const { http, smtp } = await service.ready()
  const address = await createAddress(http)
  const open = await openTlsSession(smtp)
  expect(open.serial).toBe(first!.serial)
  expect(await expiryAt(http)).toBe(first!.expires)

  writePair(dataDir, second!)
  const doctor = { ...settings, ...tls, SMTP_PORT: smtp.split(':')[1]! }
  service.kill('SIGHUP')
  await until(async () => (await servedSerial(smtp)) === second!.serial)
  expect(await expiryAt(http)).toBe(second!.expires)
  expect(
    await open.send('ann@example.com', address, 'From: ann@example.com\r\nSubject: hi\r\n\r\nhi'),
  ).toMatch(/^250/)
  open.close()
  expect(await inUse(doctor)).toBe(true)

  writeFileSync(files.certFile, third!.cert)
  service.kill('SIGHUP')
  await until(() => service.stderr.includes('cannot be used as they are now'))
  expect(await servedSerial(smtp)).toBe(second!.serial)
  expect(await expiryAt(http)).toBe(second!.expires)
  // The doctor is given another file than the service, which else would take it within a minute.
  const others = writePair(temporaryDir(), third!)
  expect(await inUse({ ...doctor, SMTP_TLS_CERT: others.certFile, SMTP_TLS_KEY: others.keyFile })).toBe(false)
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
})

test('SIGHUP from a terminal that is open reloads as well, and does not end the service; its end does', async () => {
  const [first, second] = await Promise.all([createPair(), createPair()])
  const files = writePair(dataDir, first!)
  const { PATH = '' } = process.env
  const env = { PATH, PORT: '0', SMTP_PORT: '0', ...settings }
  Object.assign(env, { SMTP_TLS_CERT: files.certFile, SMTP_TLS_KEY: files.keyFile })
  // script(1) is the terminal: its end closes it.
  const command = `echo $$ > ${dataDir}/pid; exec ${process.execPath} ${root}/dist/main.js`
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  terminal.stdout.on('data', (chunk) => (output += chunk))
  const { smtp } = await until(() => {
    const [line] = /^\{"ready":true.*\}/m.exec(output) ?? []
    return line === undefined ? null : (JSON.parse(line) as { smtp: string })
  })
  const pid = Number(readFileSync(join(dataDir, 'pid'), 'utf8'))
  writePair(dataDir, second!)
  process.kill(pid, 'SIGHUP')
  await until(async () => (await servedSerial(smtp)) === second!.serial)
  expect(lives(pid)).toBe(true)
  terminal.kill('SIGKILL')
  await until(() => !lives(pid)).catch((error: unknown) => {
    process.kill(pid, 'SIGKILL')
    throw error
  })
})
