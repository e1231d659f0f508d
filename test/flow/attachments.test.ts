import { beforeAll, expect, test } from 'vitest'
import { receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService()
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const receiveFile = (type: string, content: Buffer) =>
  receive(service, agent, {
    raw: Buffer.from(
      [
        `From: ann@example.com\r\nTo: ${agent.address}\r\nSubject: a file\r\nContent-Type: multipart/mixed; boundary=b\r\n`,
        '--b\r\n\r\nSee the file.',
        `--b\r\nContent-Type: ${type}; name="prices.csv"\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}`,
        '--b--\r\n',
      ].join('\r\n'),
    ),
    envelope: { from: 'ann@example.com', to: agent.address },
  })

test('a text file is listed by its type and downloaded with its charset, byte for byte', async () => {
  const content = Buffer.from('Käse;3\r\n', 'latin1')
  const message = await receiveFile('text/csv; charset=ISO-8859-1; header=absent', content)
  expect(message.attachments).toEqual([{ name: 'prices.csv', type: 'text/csv', size: content.length }])
  const answer = await fetch(`${service.http}/agents/${agent.id}/messages/${message.id}/attachments/0`, {
    headers: { Authorization: `Bearer ${agent.token}` },
  })
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=iso-8859-1')
  expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
})
