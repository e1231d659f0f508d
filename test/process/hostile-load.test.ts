import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mutatedMail } from '../support/mutated-mail.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { sendRaw } from '../support/raw-smtp.ts'
import { apiOf } from '../support/service.ts'

// Set HOSTILE_MAILS=20000 for a long run. The test prints the longest response time of /healthz.
const MAILS = Number(process.env.HOSTILE_MAILS ?? 200)
const SESSIONS = 10
/** One of these messages once blocked the service for minutes. Two busy cores alone may take a second. */
const MAX_PAUSE_MS = 5_000

const dataDir = preparedDataDir()
let service: ServiceProcess
let smtp: string
let http: string
let agent: { id: string; address: string }
let api: ReturnType<typeof apiOf>

beforeAll(async () => {
  service = run({ DATA_DIR: dataDir, LOG_LEVEL: 'error', OWNER_EMAIL: 'owner@example.com' })
  ;({ http, smtp } = await service.ready())
  api = apiOf(http, readFileSync(`${dataDir}/owner-token`, 'utf8').trim())
  const { id } = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  agent = { id, address: (await api('GET', `/agents/${id}/addresses`)).body[0].value }
  await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
})
afterAll(() => cleanUp(dataDir))

/** Requests /healthz repeatedly while the work runs; resolves with the longest response time in milliseconds. */
const longestResponseDuring = async (work: Promise<unknown>): Promise<number> => {
  let done = false
  void work.finally(() => {
    done = true
  })
  let worst = 0
  while (!done) {
    const started = performance.now()
    expect((await fetch(`${http}/healthz`)).status).toBe(200)
    worst = Math.max(worst, performance.now() - started)
    await sleep(5)
  }
  await work
  return worst
}

const calendar = (n: number) =>
  `--b\r\nContent-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Z${n}\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n` +
  'RRULE:FREQ=SECONDLY\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n' +
  `BEGIN:VEVENT\r\nSUMMARY:${n}\r\nDTSTART;TZID=Z${n}:20261123T150000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`

const mixed = (parts: string) =>
  `From: eve@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`

const HOSTILE: Record<string, () => string> = {
  '300 KB of carriage returns in a header': () =>
    `From: eve@example.com\r\nX: ${'\r'.repeat(300_000)}y\r\n\r\nhello\r\n`,
  '200 calendars with a rule for every second': () =>
    mixed(Array.from({ length: 200 }, (_, n) => calendar(n)).join('')),
  '120 KB of semicolons in a DKIM signature': () =>
    `DKIM-Signature: v=1${';'.repeat(120_000)}\r\nFrom: eve@example.com\r\n\r\nhello\r\n`,
  '120 KB of semicolons in a folded DKIM signature': () =>
    `DKIM-Signature: v=1;\r\n${` ${';'.repeat(900)}\r\n`.repeat(130)}From: eve@example.com\r\n\r\nhello\r\n`,
  'a From of 120 KB of hyphens': () => `From: ${'a-'.repeat(60_000)}\r\n\r\nhello\r\n`,
  'a folded From of 60 KB of hyphens': () =>
    `From: ${'a-'.repeat(400)}\r\n${` ${'a-'.repeat(400)}\r\n`.repeat(75)}\r\nhello\r\n`,
  'a Received of 120 KB of words': () =>
    `Received: ${'a b '.repeat(30_000)}\r\nFrom: eve@example.com\r\n\r\nhello\r\n`,
  '8 MB of header lines': () => `From: eve@example.com\r\n${'a:\r\n'.repeat(2_000_000)}\r\nhello\r\n`,
  '8 MB of header lines in a part': () => mixed(`--b\r\n${'a:\r\n'.repeat(2_000_000)}\r\nhello\r\n`),
  '1 MB of carriage returns in the body': () => `From: eve@example.com\r\n\r\n${'\r'.repeat(1_000_000)}\r\n`,
  '1 MB of quote signs': () => `From: eve@example.com\r\nSubject: Re: x\r\n\r\n${'> '.repeat(500_000)}\r\n`,
  '1 MB of unclosed tags': () =>
    `From: eve@example.com\r\nContent-Type: text/html\r\n\r\n${'<a href="'.repeat(110_000)}\r\n`,
  'a style sheet of 200 KB of selectors': () =>
    `From: eve@example.com\r\nContent-Type: text/html\r\n\r\n<style>${':not(a b) '.repeat(20_000)}{}</style>${'<b>x</b>'.repeat(5_000)}\r\n`,
}

test.each(Object.entries(HOSTILE))(
  'the service keeps responding while a mail with %s is sent to the postmaster and an agent',
  {
    timeout: 120_000,
  },
  async (_, made) => {
    const raw = Buffer.from(made(), 'latin1')
    const recipients = [agent.address, 'postmaster@agents.localhost']
    const answers = Promise.all(recipients.map((to) => sendRaw(smtp, 'eve@example.com', to, raw)))
    expect(await longestResponseDuring(answers)).toBeLessThan(MAX_PAUSE_MS)
    // Accepted or refused with a reply, but never a broken connection.
    for (const answer of await answers) expect(answer).toMatch(/^[245]\d\d /)
  },
)

test(`the service keeps responding while ${MAILS} mutated mails are sent`, {
  timeout: 3_600_000,
}, async () => {
  const mails = fc.sample(mutatedMail, MAILS)
  const senders = Array.from({ length: SESSIONS }, async () => {
    for (let raw = mails.pop(); raw; raw = mails.pop()) {
      const answer = await sendRaw(smtp, 'eve@example.com', agent.address, raw)
      expect(answer).toMatch(/^(?:250|4\d\d|5\d\d) /)
    }
  })
  const worst = await longestResponseDuring(Promise.all(senders))
  process.stdout.write(
    `the longest response of /healthz during ${MAILS} mutated mails took ${Math.round(worst)} ms\n`,
  )
  expect(worst).toBeLessThan(MAX_PAUSE_MS)
})

test('an ordinary mail is still received and parsed after all hostile mails', async () => {
  const raw = Buffer.from(
    'From: ann@example.com\r\nSubject: honest\r\nMessage-ID: <1@example.com>\r\n\r\nhello\r\n',
  )
  expect(await sendRaw(smtp, 'ann@example.com', agent.address, raw)).toMatch(/^250 /)
  const { items } = (await api('GET', `/agents/${agent.id}/messages?limit=1`)).body
  expect(items[0]).toMatchObject({ subject: 'honest', text: 'hello' })
})
