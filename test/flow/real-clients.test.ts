import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { newest, post } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

const run = promisify(execFile)

/** Tests whether a program runs; some in Debian (swaks) are scripts with dependencies. */
const runs = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 20_000 })
    return true
  } catch {
    return false
  }
}

let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService()
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const FROM = 'ann@example.com'
const fileOf = (name: string, content: string): string => {
  const path = join(service.dataDir, name)
  writeFileSync(path, content)
  return path
}
const letter = (subject: string) =>
  `From: Ann <${FROM}>\r\nTo: ${agent.address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.com>\r\n\r\nGrüße\r\n.\r\n..two dots\r\n`
/**
 * The expected text: a line with a single dot, and one with two. The client doubles leading dots and the
 * server removes them again (RFC 5321 4.5.2).
 */
const DOTTED = 'Grüße\n.\n..two dots'

describe('mail is received from', () => {
  test('nodemailer, with and without STARTTLS, with an image', async () => {
    const attachments = [{ filename: 'dot.png', content: Buffer.from([137, 80, 78, 71]) }]
    await post(service, { from: FROM, to: agent.address, subject: 'nodemailer', text: 'Grüße', attachments })
    expect((await newest(agent))[0]).toMatchObject({
      subject: 'nodemailer',
      text: 'Grüße',
      attachments: [{ name: 'dot.png', size: 4 }],
    })
  })

  test.skipIf(!runs('curl', '--version'))('curl (skipped if it is not installed)', async () => {
    const file = fileOf('curl.eml', letter('curl'))
    const url = `smtp://${service.smtp.host}:${service.smtp.port}`
    await run('curl', [
      '-sS',
      '--ssl',
      '-k',
      url,
      '--mail-from',
      FROM,
      '--mail-rcpt',
      agent.address,
      '-T',
      file,
    ])
    expect((await newest(agent))[0]).toMatchObject({
      subject: 'curl',
      counterpart: FROM,
      counterpartName: 'Ann',
      text: DOTTED,
    })
  })

  test.skipIf(!runs('swaks', '--version') || !runs('perl', '-MNet::SSLeay', '-e1'))(
    'swaks over TLS (skipped if it, or the library that Debian only recommends, is not installed)',
    async () => {
      const server = ['--server', service.smtp.host, '--port', String(service.smtp.port), '--tls']
      const mail = [
        '--from',
        FROM,
        '--to',
        agent.address,
        '--header',
        'Subject: swaks',
        '--body',
        'hi',
        '--attach',
        '@/etc/hostname',
      ]
      await run('swaks', [...server, ...mail], { timeout: 60_000 })
      const [message] = await newest(agent)
      expect(message).toMatchObject({ subject: 'swaks', text: 'hi' })
      expect(message.attachments).toHaveLength(1)
    },
  )

  test.skipIf(!runs('swaks', '--version'))(
    'swaks with PIPELINING (skipped if it is not installed)',
    async () => {
      const server = ['--server', service.smtp.host, '--port', String(service.smtp.port), '--pipeline']
      await run(
        'swaks',
        [...server, '--from', FROM, '--to', agent.address, '--header', 'Subject: ahead', '--body', 'hi'],
        {
          timeout: 60_000,
        },
      )
      expect((await newest(agent))[0]).toMatchObject({ subject: 'ahead' })
    },
  )

  test.skipIf(!runs('msmtp', '--version'))('msmtp (skipped if it is not installed)', async () => {
    const where = [
      `--host=${service.smtp.host}`,
      `--port=${service.smtp.port}`,
      '--tls=on',
      '--tls-certcheck=off',
      '--auth=off',
    ]
    const sending = run('msmtp', [...where, `--from=${FROM}`, agent.address])
    sending.child.stdin!.end(letter('msmtp').replaceAll('\r\n', '\n'))
    await sending
    expect((await newest(agent))[0]).toMatchObject({ subject: 'msmtp', text: DOTTED })
  })

  test.skipIf(!runs('python3', '-c', 'import smtplib'))(
    'Python’s smtplib with 8BITMIME and SMTPUTF8 (skipped if it is not installed)',
    async () => {
      const program = `
import smtplib, ssl, sys
from email.message import EmailMessage
from email.policy import SMTPUTF8
host, port, to = sys.argv[1], int(sys.argv[2]), sys.argv[3]
mail = EmailMessage(policy=SMTPUTF8)
mail['From'], mail['To'], mail['Subject'] = 'Jörg <jörg@example.com>', to, 'smtplib für alle'
mail.set_content('Grüße\\n.\\n')
mail.add_attachment(b'a;b', maintype='text', subtype='csv', filename='größe.csv')
with smtplib.SMTP(host, port) as smtp:
    smtp.starttls(context=ssl._create_unverified_context())
    smtp.ehlo()
    assert smtp.has_extn('smtputf8') and smtp.has_extn('8bitmime') and smtp.has_extn('size')
    assert smtp.send_message(mail) == {}
    assert smtp.sendmail('ann@example.com', [to, 'nobody@agents.localhost'], 'Subject: second\\r\\n\\r\\nagain').keys() == {'nobody@agents.localhost'}
`
      await run('python3', [
        fileOf('send.py', program),
        service.smtp.host,
        String(service.smtp.port),
        agent.address,
      ])
      const [second, first] = await newest(agent, 2)
      expect(second).toMatchObject({ subject: 'second', text: 'again', counterpart: FROM })
      expect(first).toMatchObject({
        subject: 'smtplib für alle',
        counterpart: 'jörg@example.com',
        counterpartName: 'Jörg',
        text: 'Grüße\n.',
        attachments: [{ name: 'größe.csv', type: 'text/csv', size: 3 }],
      })
    },
  )
})
