import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { receive } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

const clock = createFakeClock()
const log = createTestLog()
let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ world: { clock }, log })
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const receiveFile = (type: string, content: Buffer) =>
  receive(service, agent, {
    raw: Buffer.from(
      [
        `From: ann@example.com\r\nTo: ${agent.address}\r\nSubject: a file\r\nContent-Type: multipart/mixed; boundary=b\r\n`,
        '--b\r\n\r\nSee the file.',
        `--b\r\nContent-Type: ${type}; name="prices.csv"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}`,
        '--b--\r\n',
      ].join('\r\n'),
    ),
    envelope: { from: 'ann@example.com', to: agent.address },
  })

test('a text file is listed with its type and downloaded with its charset, byte for byte', async () => {
  const content = Buffer.from('Käse;3\r\n', 'latin1')
  const message = await receiveFile('text/csv; charset=ISO-8859-1; header=absent', content)
  expect(message.attachments).toEqual([{ name: 'prices.csv', type: 'text/csv', size: content.length }])
  const answer = await fetch(`${service.http}/agents/${agent.id}/messages/${message.id}/attachments/0`, {
    headers: { Authorization: `Bearer ${agent.token}` },
  })
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=iso-8859-1')
  expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
})

describe('a link to a file', () => {
  const MINUTE_MS = 60_000
  const content = Buffer.from('a;b\r\n')
  const linked = async () => {
    const message = await receiveFile('text/csv', content)
    const answer = await agent.api('POST', `/agents/${agent.id}/messages/${message.id}/attachments/0/link`)
    expect(answer.status).toBe(201)
    return {
      message,
      url: String(answer.body.url).replace(/^http:\/\/[^/]+/, service.http),
      expiresAt: answer.body.expiresAt,
    }
  }
  const opened = async (url: string, init: RequestInit = {}) => {
    const answer = await fetch(url, init)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  test('works without a token, as a download that is not cached', async () => {
    const { url } = await linked()
    const answer = await opened(url)
    expect([answer.status, answer.text]).toEqual([200, content.toString()])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv',
      'content-disposition': `attachment; filename="prices.csv"; filename*=UTF-8''prices.csv`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(await opened(url, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    expect((await opened(url, { method: 'POST' })).status).toBe(405)
  })

  test('is valid for ten minutes', async () => {
    const { url, expiresAt } = await linked()
    const left = new Date(expiresAt).getTime() - clock.now().getTime()
    expect(left).toBeGreaterThan(9 * MINUTE_MS)
    expect(left).toBeLessThanOrEqual(10 * MINUTE_MS)
    clock.advance(left - 1)
    expect((await opened(url)).status).toBe(200)
    clock.advance(1)
    expect(await opened(url)).toMatchObject({
      status: 404,
      text: JSON.stringify({
        error: { code: 'not_found', message: 'This link is not valid, or has expired.' },
      }),
    })
  })

  test('does not work for another file, for longer, or with another signature', async () => {
    const [{ url }, other] = [await linked(), await linked()]
    const expires = Number(new URL(url).searchParams.get('expires'))
    const { text } = await opened(url.replace(/signature=.*/, 'signature=x'))
    const changed = [
      url.replace(/files\/[^/]+/, `files/${other.message.id}`),
      url.replace('/0?', '/1?'),
      url.replace(`${expires}`, `${expires + 60}`),
      url.replace(`${expires}`, `${expires}.0`),
      url.slice(0, -1),
      url.replace(/\?.*/, ''),
      url.replace('/0?', '/x?'),
      url.replace(/files\/[^/]+/, 'files/..%2f'),
    ]
    for (const wrong of changed) expect(await opened(wrong)).toMatchObject({ status: 404, text })
  })

  test('stops working when its message is deleted', async () => {
    const doomed = await createTestAgent(service, await service.workspace())
    const { url, message } = await linked()
    await service.db.prisma.message.deleteMany({ where: { id: message.id } })
    expect((await opened(url)).status).toBe(404)
    expect(
      (await doomed.api('POST', `/agents/${agent.id}/messages/${message.id}/attachments/0/link`)).status,
    ).toBe(404)
  })

  test('is issued only for existing files', async () => {
    const { message } = await linked()
    const answer = await agent.api('POST', `/agents/${agent.id}/messages/${message.id}/attachments/1/link`)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  })

  test('can be requested through GraphQL, and works in every process', async () => {
    const { message } = await linked()
    const query = '{ message(id: "ID") { attachments { name link { url expiresAt } } } }'.replace(
      'ID',
      message.id,
    )
    const { body } = await agent.api('POST', '/graphql', { query })
    const [{ name, link }] = body.data.message.attachments
    expect(name).toBe('prices.csv')
    const other = await service.again()
    expect((await opened(link.url.replace(/^http:\/\/[^/]+/, other.http))).text).toBe(content.toString())
  })

  test('to look at shows pictures and PDF, and lets everything else only be saved', async () => {
    const viewOf = async (type: string) => {
      const { id } = await receiveFile(type, content)
      const query = `{ message(id: "${id}") { attachments { link(view: true) { url } } } }`
      const { body } = await agent.api('POST', '/graphql', { query })
      const url = body.data.message.attachments[0].link.url.replace(/^http:\/\/[^/]+/, service.http)
      return { url, headers: (await opened(url)).headers }
    }
    for (const type of [
      'image/png',
      'image/jpeg',
      'image/gif',
      'image/webp',
      'image/avif',
      'application/pdf',
    ]) {
      const { headers, url } = await viewOf(type)
      expect([type, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
        ...[type, type, 'nosniff'],
      ])
      expect(headers.get('content-disposition')).toMatch(/^inline; /)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      // The signature is for looking at it.
      expect((await opened(url.replace('-view', ''))).status).toBe(404)
    }
    for (const type of [
      'text/html',
      'image/svg+xml',
      'text/xml',
      'application/xhtml+xml',
      'text/javascript',
      'application/pdf+html',
    ])
      expect([type, (await viewOf(type)).headers.get('content-disposition')]).toEqual([
        type,
        expect.stringMatching(/^attachment; /),
      ])
    const { url } = await linked()
    expect((await opened(url.replace('/0?', '/0-view?'))).status).toBe(404)
  })

  test('is not logged', async () => {
    const { url } = await linked()
    await opened(url)
    const signature = new URL(url).searchParams.get('signature')!
    await expect.poll(() => log.text()).toContain('/files/')
    expect(log.text()).not.toContain(signature)
  })
})
