import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

// Half a gigabyte takes a minute on two cores. MEMORY=1 sends it; otherwise a few of the same mails show that
// they wait for each other.
const filler = Buffer.from(`${'QUFB'.repeat(19)}\r\n`.repeat(1_000))
const MAILS = process.env.MEMORY ? 20 : 4
const MAIL_BYTES = 25 * 1024 * 1024 - 4_096 - filler.length
const MAX_BYTES = 570 * 1024 * 1024

const dataDir = preparedDataDir()
let service: ServiceProcess
let smtp: string
let api: ReturnType<typeof apiOf>
let agent: { id: string; address: string }

beforeAll(async () => {
  service = run({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
  const ready = await service.ready()
  smtp = ready.smtp
  api = apiOf(ready.http, readFileSync(`${dataDir}/owner-token`, 'utf8').trim())
  const { id } = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  agent = { id, address: (await api('GET', `/agents/${id}/addresses`)).body[0].value }
  await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
})
afterAll(() => cleanUp(dataDir))

/** Returns the peak memory of a process in bytes. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024

const TAIL = '\r\n--b--\r\n.\r\n'

/**
 * Sends a mail with a file of the maximum size, and resolves with the last reply of the server. Retries after
 * a 451.
 */
async function send(number: number): Promise<string> {
  const head = `From: n${number}@example.com\r\nMessage-ID: <${number}@example.com>\r\nSubject: ${number}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  const [host, port] = smtp.split(':') as [string, string]
  // Each from its own address: one source can send only one long mail at the same time.
  const socket = connect({ port: Number(port), host, localAddress: `127.0.0.${2 + number}` })
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  const answer = async (code: string) =>
    until(() => new RegExp(`^${code} .*$`, 'm').exec(received)?.[0], 600_000)
  const say = async (line: string, code: string) => {
    received = ''
    socket.write(`${line}\r\n`)
    return answer(code)
  }
  await answer('220')
  await say('EHLO x.example', '250')
  await say(`MAIL FROM:<n${number}@example.com>`, '250')
  await say(`RCPT TO:<${agent.address}>`, '250')
  await say('DATA', '354')
  received = ''
  socket.write(head)
  for (let sent = head.length; sent < MAIL_BYTES; sent += filler.length) {
    if (!socket.write(filler)) await new Promise((resolve) => socket.once('drain', resolve))
  }
  socket.write(TAIL)
  const last = await answer('\\d{3}')
  socket.destroy()
  return last.startsWith('451') ? send(number) : last
}

test.runIf(process.platform === 'linux')(
  `${MAILS} concurrent mails of 25 MiB are all stored, and the service stays below 570 MiB`,
  { timeout: 900_000 },
  async () => {
    const answers = await Promise.all(Array.from({ length: MAILS }, (_, number) => send(number)))
    for (const answer of answers) expect(answer).toMatch(/^250/)
    const { items } = (await api('GET', `/agents/${agent.id}/messages?limit=100`)).body
    expect(items).toHaveLength(MAILS)
    for (const { attachments } of items) expect(attachments[0].size).toBeGreaterThan(19_000_000)
    const peak = peakOf(service.pid)
    expect(peak, `${Math.round(peak / 1024 / 1024)} MiB`).toBeLessThan(MAX_BYTES)
  },
)
