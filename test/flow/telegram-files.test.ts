import { describe, expect, test } from 'vitest'
import { arrangeTelegram } from '../support/telegram.ts'

const { telegram, service, agent, bot, ann, newest } = await arrangeTelegram()

describe('incoming files', () => {
  const send = async (content: Buffer, more: object = {}) => {
    const file = telegram.world.file('report.pdf', content)
    await telegram.write(bot, ann, {
      document: { ...file, file_name: 'report.pdf', mime_type: 'application/pdf', ...more },
      caption: 'Here',
    })
    return newest()
  }

  test('are received byte for byte', async () => {
    const content = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256))
    const message = await send(content)
    expect(message).toMatchObject({
      text: 'Here',
      attachments: [{ name: 'report.pdf', type: 'application/pdf', size: 5_000 }],
    })
    const response = await fetch(`${service.http}/agents/${agent.id}/messages/${message.id}/attachments/0`, {
      headers: { Authorization: `Bearer ${agent.token}` },
    })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content)
  })

  test('have no path in their names', async () => {
    expect((await send(Buffer.from('x'), { file_name: '../../etc/pass\nwd' })).attachments[0].name).toBe(
      '.._.._etc_pass wd',
    )
  })

  test('are received if Telegram fails to deliver them twice', async () => {
    telegram.refuse('getfile', 502, 'Bad Gateway', 1)
    telegram.refuse('download', 502, 'Bad Gateway', 1)
    expect((await send(Buffer.from('third'))).attachments).toHaveLength(1)
  })

  test.each<[string, () => Promise<{ text: string; attachments: unknown[] }>, RegExp]>([
    [
      'too large for bots',
      () => send(Buffer.from('x'), { file_size: 45 * 1024 * 1024 }),
      /^Here\n\[report\.pdf is missing: it has 45 MB; bots can download at most 20\]$/,
    ],
    [
      'larger than announced',
      () => send(Buffer.alloc(20 * 1024 * 1024 + 1), { file_size: 5 }),
      /^Here\n\[report\.pdf is missing: Bad Request: file is too big\]$/,
    ],
    [
      'unknown to Telegram',
      async () => {
        await telegram.write(bot, ann, {
          document: { file_id: 'gone', file_name: 'gone.txt' },
          caption: 'Here',
        })
        return newest()
      },
      /^Here\n\[gone\.txt is missing: Bad Request: invalid file_id\]$/,
    ],
    [
      'truncated',
      () => {
        telegram.faults.push({
          method: 'download',
          times: 3,
          answer: (response) => {
            response.writeHead(200, { 'Content-Length': 100 }).write('half')
            setImmediate(() => response.destroy())
          },
        })
        return send(Buffer.from('x'))
      },
      /^Here\n\[report\.pdf is missing: could not be reached/,
    ],
    [
      'endless',
      () => {
        telegram.faults.push({
          method: 'download',
          times: 3,
          answer: (response) => {
            const pour = () => {
              while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024)));
            }
            response.writeHead(200).on('drain', pour)
            pour()
          },
        })
        return send(Buffer.from('x'))
      },
      /^Here\n\[report\.pdf is missing: the file is longer than 20971520 bytes\]$/,
    ],
  ])('that are %s are reported as missing in the message', async (_, write, text) => {
    const message = await write()
    expect(message.text).toMatch(text)
    expect(message.attachments).toEqual([])
    telegram.faults.length = 0
  })
})
