import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, lives, run, type ServiceProcess } from '../support/process.ts'
import { sendRaw } from '../support/raw-smtp.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

let dataDir: string
let service: ServiceProcess
let smtp: string
let api: ReturnType<typeof apiOf>
let agent: { id: string; address: string }

beforeEach(async () => {
  dataDir = preparedDataDir()
  service = run({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    TZ: 'Europe/Berlin',
  })
  const ready = await service.ready()
  smtp = ready.smtp
  api = apiOf(ready.http, readFileSync(`${dataDir}/owner-token`, 'utf8').trim())
  const { id } = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  agent = { id, address: (await api('GET', `/agents/${id}/addresses`)).body[0].value }
  await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
})
afterEach(() => cleanUp(dataDir))

const send = (raw: Buffer) => sendRaw(smtp, 'ann@example.com', agent.address, raw)
const stored = async () => (await api('GET', `/agents/${agent.id}/messages?limit=10`)).body.items

/** 5 MB that take seconds to parse: forwarded messages, each nested as deeply as MIME is parsed. */
const slowMail = () => {
  let nested = 'Content-Type: text/plain\r\n\r\nx\r\n'
  for (let n = 1_400; n > 0; n--)
    nested = `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n${nested}\r\n--b${n}--\r\n`
  const forwarded = `--f\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n${nested}\r\n`
  return Buffer.from(
    `From: ann@example.com\r\nSubject: slow\r\nContent-Type: multipart/mixed; boundary=f\r\n\r\n${forwarded.repeat(50)}--f--\r\n`,
  )
}
const longMail = () =>
  Buffer.from(`From: ann@example.com\r\nSubject: long\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(30_000)}`)

const readSafely = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Resolves with the process in which a service parses long mail, once its signal handlers are installed.
 */
const readerOf = (pid: number): Promise<number> =>
  until(() => {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const found = all.find((each) => {
      const isChild = new RegExp(`^PPid:\\s+${pid}$`, 'm').test(readSafely(`/proc/${each}/status`))
      return isChild && readSafely(`/proc/${each}/cmdline`).includes('reader-process.js') && hasHandler(each)
    })
    return found === undefined ? undefined : Number(found)
  })

/** Returns whether the process catches SIGHUP (signal 1), as it does once it is running. */
const hasHandler = (pid: string): boolean =>
  (Number(`0x${/^SigCgt:\s+\w+(\w)$/m.exec(readSafely(`/proc/${pid}/status`))?.[1] ?? 0}`) & 1) === 1

/** Returns the CPU time of the process in hundredths of a second. */
const ticksOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[11])

describe.runIf(process.platform === 'linux')('the process in which long mail is parsed', () => {
  test('has no secrets in its environment and ignores signals to the process group', async () => {
    const answer = send(slowMail())
    const reader = await readerOf(service.pid)
    const environment = readFileSync(`/proc/${reader}/environ`, 'utf8')
    expect(readFileSync(`/proc/${service.pid}/environ`, 'utf8')).toContain('MASTER_KEY=')
    expect(environment).toContain('TZ=Europe/Berlin')
    expect(environment).not.toMatch(/MASTER_KEY|DATA_DIR|HOME/)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(reader, signal)
    expect(await answer).toMatch(/^250 /)
    expect(lives(service.pid)).toBe(true)
    expect(service.stderr).not.toContain('the process ended')
  })

  test('can be killed without losing its mail, and later mail is parsed normally', async () => {
    expect(await send(longMail())).toMatch(/^250 /)
    const reader = await readerOf(service.pid)
    const before = ticksOf(reader)
    const answer = send(slowMail())
    await until(() => ticksOf(reader) > before + 20)
    process.kill(reader, 'SIGKILL')
    expect(await answer).toMatch(/^250 /)
    expect(service.stderr).toContain('process exited with SIGKILL')
    expect(await send(longMail())).toMatch(/^250 /)
    const [long, slow] = await stored()
    expect(slow).toMatchObject({ subject: 'slow' })
    expect(long).toMatchObject({ subject: 'long', text: expect.stringContaining('xxx') })
    expect(long.checks.map(({ name }: { name: string }) => name)).not.toContain('mime')
  })

  test('exits with its parent, even while it parses a message', async () => {
    const answer = send(slowMail()).catch(() => undefined)
    const reader = await readerOf(service.pid)
    service.kill('SIGKILL')
    await until(() => !lives(reader))
    await answer
  })
})
