import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { cpuTime } from '../../support/cpu-time.ts'

const parse = (mail: string | Buffer) =>
  parseMail(typeof mail === 'string' ? Buffer.from(mail.replace(/\r?\n/g, '\r\n')) : mail)
const mime = (charset: string, bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`From: a@x.com\r\nSubject: s\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n`),
    bytes,
  ])

describe('an ordinary mail', () => {
  test('is parsed completely', async () => {
    const mail = await parse(`From: "Ann, of Example" <Ann@Example.com>
To: Bot <bot@agents.localhost>, team: one@x.com, two@x.com;
Cc: three@x.com
Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= and
 more
Message-ID: <m1@example.com>
In-Reply-To: <m0@example.com>
References: <r1@example.com>
 <m0@example.com>
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Yes, please.

On Fri, Nov 20, 2026 at 10:00 AM Bot <bot@agents.localhost> wrote:
> Shall I?
--b
Content-Type: application/pdf; name="../../etc/Invoice 7.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--b--
`)
    expect(mail).toMatchObject({
      from: { address: 'ann@example.com', name: 'Ann, of Example' },
      to: ['bot@agents.localhost', 'one@x.com', 'two@x.com'],
      cc: ['three@x.com'],
      subject: 'Grüße and more',
      replyText: 'Yes, please.',
      messageId: 'm1@example.com',
      inReplyTo: 'm0@example.com',
      references: ['r1@example.com', 'm0@example.com'],
      damage: null,
    })
    expect(mail.text).toContain('> Shall I?')
    expect(mail.attachments).toEqual([
      { name: 'Invoice 7.pdf', type: 'application/pdf', content: new Uint8Array(Buffer.from('%PDF')) },
    ])
  })

  test('that is only a quote keeps the quote as its reply text', async () => {
    const mail = await parse('From: a@x.com\n\n> all of it\n> quoted\n')
    expect(mail.replyText).toBe(mail.text)
    expect(mail.text).toContain('quoted')
  })

  test('with only HTML is converted to readable text', async () => {
    const mail = await parse(
      'From: a@x.com\nContent-Type: text/html\n\n<h1>Hi</h1><p>See <a href="https://x.com/a">this</a> &amp; that</p><ul><li>one<li>two</ul>',
    )
    expect(mail.text).toBe('Hi\n\nSee this <https://x.com/a> & that\n\n * one\n * two')
  })

  test('with a blank plain part is read from its HTML part', async () => {
    const mail = await parse(`From: a@x.com
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain

 
--b
Content-Type: text/html

<p>the words</p>
--b--`)
    expect(mail.text).toBe('the words')
  })

  test.each([
    ['One long \nline.\n\nNext.', 'One long line.\n\nNext.'],
    ['> quoted \n> on\n>> deeper \n>> too\nanswer', '> quoted on\n>> deeper too\nanswer'],
    ['> quoted \nanswer', '> quoted \nanswer'],
    [' >not a quote\n From here\n  code', '>not a quote\nFrom here\n code'],
    ['words \n-- \nAnn', 'words \n-- \nAnn'],
  ])('has its flowed lines joined: %j', async (flowed, expected) => {
    expect((await parse(`From: a@x.com\nContent-Type: text/plain; format=flowed\n\n${flowed}\n`)).text).toBe(
      expected,
    )
  })

  test('has no extra spaces after joining flowed lines with DelSp', async () => {
    const mail = await parse(
      'From: a@x.com\nContent-Type: text/plain; format=flowed; delsp=yes\n\n日本 \n語\n次\n',
    )
    expect(mail.text).toBe('日本語\n次')
  })

  test.each([
    ['<bold>Now</bold> is the <fontfamily><param>Times</param>time</fontfamily>', 'Now is the time'],
    ['one\nline\n\nnext\n\n\nlast', 'one line\nnext\n\nlast'],
    ['<nofill>as it\n  stands</nofill>\nhere', 'as it\n  stands here'],
    ['1 <<2 <verbatim-ish and a < b', '1 <2 <verbatim-ish and a < b'],
    ['<param>without an end', '<param>without an end'],
    ['<param>'.repeat(50_000), '<param>'.repeat(50_000)],
  ])('has its enriched text converted to plain text (case %#)', async (enriched, expected) => {
    expect((await parse(`From: a@x.com\nContent-Type: text/enriched\n\n${enriched}\n`)).text).toBe(expected)
  })

  test('keeps a forwarded message as an attachment and has a readable delivery report', async () => {
    const mail = await parse(`From: MAILER-DAEMON@x.com
Content-Type: multipart/report; boundary=b; report-type=delivery-status

--b
Content-Type: message/delivery-status

Final-Recipient: rfc822; gone@x.com
Action: failed
--b
Content-Type: message/rfc822

Subject: original

secret of the original
--b--`)
    expect(mail.text).toContain('Final-Recipient: rfc822; gone@x.com')
    expect(mail.text).not.toContain('secret')
    expect(mail.attachments.map(({ name, type }) => [name, type])).toEqual([
      ['attachment-1.txt', 'message/delivery-status'],
      ['attachment-2.eml', 'message/rfc822'],
    ])
  })
})

describe('decoding charsets', () => {
  const hangul = Buffer.from([0x1b, 0x24, 0x29, 0x43, 0x0e, 0x47, 0x51, 0x31, 0x5b, 0x0f])
  test.each([
    ['utf-7', Buffer.from('Hi +AOQ- +IKw-'), 'Hi ä €'],
    ['cp437', Buffer.from([0x84, 0x20, 0xe1]), 'ä ß'],
    ['cp850', iconv.encode('Ð ü', 'cp850'), 'Ð ü'],
    ['IBM850', iconv.encode('é', 'cp850'), 'é'],
    ['iso-2022-kr', hangul, '한글'],
    ['hz-gb-2312', Buffer.from('~{VPND~}~~ok'), '中文~ok'],
    ['iso-2022-jp', Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]), '日本'],
    ['us-ascii', Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]), '日本'],
    ['koi8-r', iconv.encode('Привет', 'koi8-r'), 'Привет'],
    ['big5', iconv.encode('中文', 'big5'), '中文'],
    ['utf-8', Buffer.from('caf\xe9', 'latin1'), 'café'],
    ['us-ascii', Buffer.from('café'), 'café'],
    ['iso-8859-1', Buffer.from('café – naïve'), 'café – naïve'],
    ['windows-1252', Buffer.from([0x93, 0x68, 0x69, 0x94]), '“hi”'],
    ['x-made-up', Buffer.from('café'), 'café'],
    ['x-made-up', Buffer.from('caf\xe9', 'latin1'), 'café'],
    ['""', Buffer.from('plain'), 'plain'],
    ['utf-8', iconv.encode('Привет, как дела сегодня?', 'windows-1251'), 'Привет, как дела сегодня?'],
    [
      'utf-8',
      iconv.encode('今天天气很好，我们去公园散步吧。', 'gb18030'),
      '今天天气很好，我们去公园散步吧。',
    ],
    [
      'iso-8859-1',
      iconv.encode('本日は晴天なり、散歩に行きましょう。', 'shift_jis'),
      '本日は晴天なり、散歩に行きましょう。',
    ],
    ['us-ascii', Buffer.from('déjà vu à la carte', 'latin1'), 'déjà vu à la carte'],
  ])('decodes text declared as %s (case %#)', async (charset, bytes, expected) =>
    expect((await parse(mime(charset, bytes))).text).toBe(expected),
  )

  test.each([
    ['utf-16le', iconv.encode('naïve', 'utf-16le')],
    ['utf-16', iconv.encode('\ufeffnaïve', 'utf-16le')],
    ['utf-16', iconv.encode('\ufeffnaïve', 'utf-16be')],
    ['utf-16', iconv.encode('naïve', 'utf-16be')],
    ['utf-16', iconv.encode('naïve', 'utf-16le')],
    ['us-ascii', iconv.encode('\ufeffnaïve', 'utf-16le')],
    ['utf-8', iconv.encode('\ufeffnaïve', 'utf-16be')],
    ['utf-32le', iconv.encode('naïve', 'utf-32le')],
  ])('decodes base64 text declared as %s (case %#)', async (charset, bytes) => {
    const head = `From: a@x.com\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: base64\r\n\r\n`
    expect((await parse(Buffer.from(head + bytes.toString('base64')))).text).toBe('naïve')
  })

  test('decodes UTF-16 with 8bit transfer encoding', async () => {
    const head =
      'From: a@x.com\r\nContent-Type: text/plain; charset=utf-16le\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'
    expect(
      (await parse(Buffer.concat([Buffer.from(head), iconv.encode('one\r\nzwölf', 'utf-16le')]))).text,
    ).toBe('one\nzwölf')
  })

  test.each([
    [Buffer.from('Subject: =?windows-1252?Q?=93hi=94_=96_?= =?iso-8859-1?Q?caf=E9?='), '“hi” – café'],
    [Buffer.from('Subject: caf\xe9 r\xe4tsel', 'latin1'), 'café rätsel'],
    [Buffer.from('Subject: café'), 'café'],
    [Buffer.from('Subject: =?utf-7?Q?+AOQ-?= and =?cp437?B?hA==?='), 'ä and ä'],
    [Buffer.from('Subject: =?iso-2022-kr?B?GyQpQw5HUTFbDw==?='), '한글'],
    [
      Buffer.concat([
        Buffer.from('Subject: '),
        Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]),
      ]),
      '日本',
    ],
    [Buffer.from('Subject: =?x-nothing?Q?caf=C3=A9?='), 'café'],
    [Buffer.from('Subject: =?utf-8?Q?unfinished'), '=?utf-8?Q?unfinished'],
  ])('decodes a header field: %s', async (line, expected) => {
    expect(
      (await parse(Buffer.concat([Buffer.from('From: a@x.com\r\n'), line, Buffer.from('\r\n\r\nbody')])))
        .subject,
    ).toBe(expected)
  })
})

const nested = (depth: number) => {
  const open = Array.from(
    { length: depth },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`,
  ).join('')
  return `From: a@x.com\nSubject: deep\n${open}Content-Type: text/plain\n\nthe core\n`
}

describe('malformed mail', () => {
  test.each<[name: string, mail: string | Buffer, expected: Record<string, unknown>]>([
    ['nothing at all', '', { text: '', subject: null, from: { address: '', name: null } }],
    ['no header', '\nonly a body', { text: 'only a body', subject: null }],
    ['no body', 'From: a@x.com\nSubject: s\n', { text: '', subject: 's' }],
    ['a header without an end', 'From: a@x.com\nSubject: s', { text: '', subject: 's' }],
    ['no valid header', 'hello there\n\nbody', { text: 'hello there\n\nbody' }],
    ['only words', 'just words\n', { text: 'just words' }],
    [
      'words that look a little like a header',
      'Hello Bot,\nplease: do this\n\nBye\n',
      { text: 'Hello Bot,\nplease: do this\n\nBye' },
    ],
    [
      'no empty line before its body',
      'From: a@x.com\nSubject: s\nthe words\nto: read\n',
      { subject: 's', text: 'the words\nto: read' },
    ],
    [
      'a header that begins with garbage',
      '#!garbage\nFrom: a@x.com\nSubject: s\n\nbody',
      { subject: 's', text: 'body' },
    ],
    [
      "an mbox's first line",
      'From a@x.com Sat Nov 21 03:00:00 2026\nFrom: a@x.com\n\nbody',
      { from: { address: 'a@x.com', name: null }, text: 'body' },
    ],
    [
      'a multipart type without a boundary',
      'From: a@x.com\nContent-Type: multipart/mixed\n\nsome words',
      { text: 'some words' },
    ],
    [
      'a multipart type whose boundary is only in the body',
      'From: a@x.com\nContent-Type: multipart/mixed\n\n--b7\nContent-Type: text/html\n\n<p>some words</p>\n--b7\nContent-Type: text/csv; name=x.csv\n\n1,2\n--b7--\n',
      { text: 'some words', attachments: [expect.objectContaining({ name: 'x.csv' })] },
    ],
    [
      'bare line feeds',
      Buffer.from('From: a@x.com\nSubject: lf\n\none\ntwo\n'),
      { subject: 'lf', text: 'one\ntwo' },
    ],
    ['bare carriage returns in the body', Buffer.from('From: a@x.com\r\n\r\none\rtwo'), { text: 'one\ntwo' }],
    [
      'invisible characters',
      'From: a@x.com\n\nseen\u{e0049}\u{e0047}\u{e004e} 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
      { text: 'seen 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}' },
    ],
    [
      'a NUL in the subject',
      'From: a@x.com\nSubject: a\0b\n\nt\0u',
      { subject: 'a\ufffdb', text: 't\ufffdu' },
    ],
    [
      'an encoded NUL and an unpaired surrogate',
      'From: a@x.com\nSubject: =?utf-8?Q?a=00b=ED=A0=80?=\n\n',
      { subject: expect.stringMatching(/^a\ufffdb\ufffd+$/) },
    ],
    ['1,000 nested parts', nested(1_000), { subject: 'deep', text: 'the core', damage: null }],
    [
      '20,000 nested parts',
      nested(20_000),
      {
        subject: 'deep',
        text: expect.stringContaining('--b4000'),
        damage: expect.stringContaining('nesting'),
      },
    ],
    [
      'a boundary that never occurs',
      'From: a@x.com\nContent-Type: multipart/mixed; boundary=x\n\nsome words',
      { from: { address: 'a@x.com', name: null }, text: 'some words' },
    ],
    ['an invalid content type', 'From: a@x.com\nContent-Type: text\n\nwords', { text: 'words' }],
    ['a Markdown body', 'From: a@x.com\nContent-Type: text/markdown\n\n# words', { text: '# words' }],
    ['broken base64', 'From: a@x.com\nContent-Transfer-Encoding: base64\n\n####aGk=', { text: 'hi' }],
    [
      'message IDs without brackets',
      'From: a@x.com\nMessage-ID: m1@x.com\nReferences: r1@x r2@x\nIn-Reply-To: r2@x\n\n',
      { messageId: 'm1@x.com', references: ['r1@x', 'r2@x'], inReplyTo: 'r2@x' },
    ],
    [
      'a message ID longer than a line',
      `From: a@x.com\nMessage-ID: <${'m'.repeat(1500)}@x>\n\n`,
      { messageId: null },
    ],
    [
      'words in In-Reply-To',
      'From: a@x.com\nIn-Reply-To: Your mail of Monday <m@x>\n\n',
      { inReplyTo: 'm@x' },
    ],
    [
      'two From fields',
      'From: first@x.com\nFrom: second@x.com\n\n',
      { from: { address: 'first@x.com', name: null } },
    ],
    [
      'a From field with a space before its colon',
      'From : a@x.com\n\n',
      { from: { address: 'a@x.com', name: null } },
    ],
    ['no address in To', 'From: a@x.com\nTo: undisclosed-recipients:;\n\n', { to: [] }],
    [
      'a name that looks like an address',
      'From: "boss@x.com" <evil@y.com>\n\n',
      { from: { address: 'evil@y.com', name: 'boss@x.com' } },
    ],
    [
      'a line of a megabyte',
      `From: a@x.com\nSubject: ${'s'.repeat(1_000_000)}\n\n${'t'.repeat(1_000_000)}`,
      { text: 't'.repeat(1_000_000) },
    ],
    [
      '3 MB of header',
      `From: a@x.com\n${'X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(55_000)}Subject: late\n\nbody`,
      { damage: expect.any(String), text: 'body' },
    ],
    [
      '100,000 folded lines',
      `From: a@x.com\nSubject: s\n${' \n'.repeat(100_000)}\nbody`,
      { subject: 's', text: 'body' },
    ],
    [
      '100,000 empty parts',
      `From: a@x.com\nContent-Type: multipart/mixed; boundary=b\n\n${'--b\n\n'.repeat(100_000)}--b\n\nlast`,
      { text: 'last' },
    ],
    ['quotes crafted to be slow', `From: a@x.com\n\n${'Op schreef\n'.repeat(10_000)}`, { damage: null }],
    [
      'HTML crafted to be slow',
      `From: a@x.com\nContent-Type: text/html\n\n${'<ul><li>'.repeat(15_000)}`,
      { damage: null },
    ],
  ])('is parsed in bounded time when it has %s', async (_, mail, expected) => {
    const started = cpuTime()
    expect(await parse(mail)).toMatchObject(expected)
    expect(cpuTime() - started).toBeLessThan(60_000)
  })

  test('has forwarded messages read only to a maximum depth and number', async () => {
    const wrap = (inner: string, boundary: string) =>
      `From: ${boundary}@x.com\nSubject: ${boundary}\nContent-Type: multipart/mixed; boundary=${boundary}\n\n--${boundary}\n\nwords of ${boundary}\n--${boundary}\nContent-Type: message/rfc822\n\n${inner}\n--${boundary}--\n`
    let deep = 'Subject: core\n\nthe core\n'
    for (let level = 9; level > 0; level--) deep = wrap(deep, `b${level}`)
    const { text, replyText, damage } = await parse(deep)
    expect(text.match(/words of b\d/g)).toEqual([
      'words of b1',
      'words of b2',
      'words of b3',
      'words of b4',
      'words of b5',
      'words of b6',
    ])
    expect(replyText).toBe(text)
    expect(damage).toBeNull()
    const part = '--b\nContent-Type: message/rfc822\n\nSubject: one of many\n\nwords\n'
    const many = await parse(
      `From: a@x.com\nContent-Type: multipart/mixed; boundary=b\n\n${part.repeat(70)}--b--\n`,
    )
    expect(many.text.match(/one of many/g)).toHaveLength(50)
    expect(many.text).toMatch(/\[20 more forwarded messages are in the attachments\.\]$/)
    expect(many.attachments).toHaveLength(70)
  })

  test('has an unreadable calendar shown as it is when there is no other text', async () => {
    const mail = await parse(
      'From: a@x.com\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\nDTSTART:tomorrow\n',
    )
    expect(mail.text).toBe('BEGIN:VCALENDAR\nDTSTART:tomorrow')
  })

  test('keeps an empty winmail.dat as an attachment', async () => {
    const mail = await parse(
      'From: a@x.com\nContent-Type: application/ms-tnef; name="winmail.dat"\nContent-Transfer-Encoding: base64\n\neJ8+IgAA\n',
    )
    expect(mail.attachments.map(({ name, type }) => [name, type])).toEqual([
      ['winmail.dat', 'application/ms-tnef'],
    ])
  })

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\Windows\\\\system.ini', 'system.ini'],
    ['a\u202Efdp.exe', 'afdp.exe'],
    ['..', 'attachment-1.bin'],
    ['Größe (1).txt', 'Größe (1).txt'],
    [`${'n'.repeat(400)}.pdf`, `${'n'.repeat(196)}.pdf`],
  ])('has an attachment named %s stored as %s', async (name, expected) => {
    const mail = await parse(
      `From: a@x.com\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename="${name}"\n\nx`,
    )
    expect(mail.attachments[0]?.name).toBe(expected)
  })
})
