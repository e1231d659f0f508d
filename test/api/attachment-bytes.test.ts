import { beforeAll, expect, test } from 'vitest'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { post } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

/** Files arrive byte for byte, in whatever form and by whatever way a mail is received. */

let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { INBOUND_SECRET: SECRET } })
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const MAIL = 'Subject: inner\r\n\r\n..\r\n.\r\nFrom here'
/** The body of each part as it is sent, and the bytes of the file. */
const FORMS = [
  ['text/csv', '7bit', 'a,b', 'a,b'],
  ['text/csv', '7bit', 'a,b\r\n', 'a,b\r\n'],
  ['text/csv', '7bit', '.a,b\r\n\r\n', '.a,b\r\n\r\n'],
  ['text/csv', '8bit', 'K\xe4se \r\n', 'K\xe4se \r\n'],
  ['application/pdf', 'quoted-printable', '%PDF=0A=FF=00=\r\nx', '%PDF\n\xff\0x'],
  ['application/pdf', 'base64', 'JVBERv8KAA==', '%PDF\xff\n\0'],
  ['message/rfc822', '7bit', MAIL, MAIL],
  ['message/rfc822', '8bit', `${MAIL}\r\n`, `${MAIL}\r\n`],
] as const

const mailOf = (subject: string, newline = '\r\n') => {
  const parts = FORMS.map(
    ([type, encoding, body], index) =>
      `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\nContent-Disposition: attachment; filename=${index}\r\n\r\n${body}\r\n`,
  )
  const head = `From: ann@example.com\r\nTo: ${agent.address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.com>\r\n`
  const body = ['\r\nSee the files.\r\n', ...parts].map((part) => `--edge\r\n${part}`).join('')
  const mail = `${head}Content-Type: multipart/mixed; boundary=edge\r\n\r\n${body}--edge--\r\n`
  return mail.replaceAll('\r\n', newline)
}

const filesOf = async (subject: string) => {
  const { items } = (await agent.api('GET', `/agents/${agent.id}/messages?limit=100`)).body
  const { id, attachments } = items.find((item: { subject: string }) => item.subject === subject)
  const contents = attachments.map(async (_: unknown, index: number) => {
    const url = `${service.http}/agents/${agent.id}/messages/${id}/attachments/${index}`
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${agent.token}` } })
    return Buffer.from(await answer.arrayBuffer()).toString('latin1')
  })
  return Promise.all(contents)
}

const FILES = FORMS.map(([, , , content]) => content)

test('by SMTP', async () => {
  await post(service, {
    raw: latin1(mailOf('smtp')),
    envelope: { from: 'ann@example.com', to: agent.address },
  })
  expect(await filesOf('smtp')).toEqual(FILES)
})

test('by HTTP', async () => {
  const raw = latin1(mailOf('http'))
  expect((await handOver(service.http, { raw, from: 'ann@example.com', to: agent.address })).status).toBe(200)
  expect(await filesOf('http')).toEqual(FILES)
})

test('by HTTP with LF', async () => {
  const raw = latin1(mailOf('lines', '\n'))
  expect((await handOver(service.http, { raw, from: 'ann@example.com', to: agent.address })).status).toBe(200)
  expect(await filesOf('lines')).toEqual(FILES.map((content) => content.replaceAll('\r\n', '\n')))
})

test.each(['message/rfc822', 'application/mbox'])('by import as %s', async (type) => {
  const subject = type.slice(-4)
  const mail = mailOf(subject)
  const quoted = `From x Tue Jan  2 15:04:05 2024\r\n${mail.replaceAll(/^(>*From )/gm, '>$1')}\r\n`
  const answer = await fetch(`${service.http}/agents/${agent.id}/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${agent.token}`, 'Content-Type': type },
    body: latin1(type === 'application/mbox' ? quoted : mail),
  })
  expect(await answer.json()).toMatchObject({ imported: 1 })
  expect(await filesOf(subject)).toEqual(FILES)
})
