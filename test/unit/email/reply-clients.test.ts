import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { replyText } from '../../../src/mail/parse/reply-text.ts'

const HISTORY = 'Shall I book the room?\nBest regards\nBot'
const QUOTE = HISTORY.replace(/^/gm, '> ')

/** Attributions as clients write them, above lines that are quoted or not. */
const ATTRIBUTIONS: [string, string][] = [
  ['Gmail, English', 'On Fri, Nov 20, 2026 at 10:00 AM Bot <bot@x.com> wrote:'],
  ['Gmail, British', 'On Fri, 20 Nov 2026 at 10:00, Bot <bot@x.com> wrote:'],
  ['Gmail, wrapped', 'On Fri, Nov 20, 2026 at 10:00 AM Bot of the Booking Department <\nbot@x.com> wrote:'],
  ['Gmail, German', 'Am Fr., 20. Nov. 2026 um 10:00 Uhr schrieb Bot <bot@x.com>:'],
  ['Gmail, French', 'Le ven. 20 nov. 2026 à 10:00, Bot <bot@x.com> a écrit :'],
  ['Gmail, Spanish', 'El vie, 20 nov 2026 a las 10:00, Bot (<bot@x.com>) escribió:'],
  ['Gmail, Italian', 'Il giorno ven 20 nov 2026 alle ore 10:00 Bot <bot@x.com> ha scritto:'],
  ['Gmail, Portuguese', 'Em sex., 20 de nov. de 2026 às 10:00, Bot <bot@x.com> escreveu:'],
  ['Gmail, Dutch', 'Op vr 20 nov 2026 om 10:00 schreef Bot <bot@x.com>:'],
  ['Gmail, Danish', 'Den fre. 20. nov. 2026 kl. 10.00 skrev Bot <bot@x.com>:'],
  ['Gmail, Swedish', 'Den fre 20 nov. 2026 kl 10:00 skrev Bot <bot@x.com>:'],
  ['Gmail, Norwegian', 'fre. 20. nov. 2026 kl. 10:00 skrev Bot <bot@x.com>:'],
  ['Gmail, Finnish', 'pe 20. marrask. 2026 klo 10.00 Bot (bot@x.com) kirjoitti:'],
  ['Gmail, Polish', 'pt., 20 lis 2026 o 10:00 Bot <bot@x.com> napisał(a):'],
  ['Gmail, Czech', 'pá 20. 11. 2026 v 10:00 odesílatel Bot <bot@x.com> napsal:'],
  ['Gmail, Russian', 'пт, 20 нояб. 2026 г. в 10:00, Bot <bot@x.com>:'],
  ['Gmail, Ukrainian', 'пт, 20 лист. 2026 р. о 10:00 Bot <bot@x.com> пише:'],
  ['Gmail, Turkish', 'Bot <bot@x.com>, 20 Kas 2026 Cum, 10:00 tarihinde şunu yazdı:'],
  ['Gmail, Hungarian', 'Bot <bot@x.com> ezt írta (időpont: 2026. nov. 20., P, 10:00):'],
  ['Gmail, Japanese', '2026年11月20日(金) 10:00 Bot <bot@x.com>:'],
  ['Gmail, Chinese', 'Bot <bot@x.com> 于2026年11月20日周五 10:00写道：'],
  ['Gmail, Traditional Chinese', 'Bot <bot@x.com> 於 2026年11月20日 週五 上午10:00寫道：'],
  ['Gmail, Korean', '2026년 11월 20일 (금) 오전 10:00, Bot <bot@x.com>님이 작성:'],
  ['Apple Mail, English', 'On 20 Nov 2026, at 10:00, Bot <bot@x.com> wrote:'],
  ['Apple Mail, German', 'Am 20.11.2026 um 10:00 schrieb Bot <bot@x.com>:'],
  ['Apple Mail, French', 'Le 20 nov. 2026 à 10:00, Bot <bot@x.com> a écrit :'],
  ['Apple Mail, Dutch', 'Op 20 nov. 2026, om 10:00 heeft Bot <bot@x.com> het volgende geschreven:'],
  ['Apple Mail, Japanese', '2026/11/20 10:00、Bot <bot@x.com>のメール:'],
  ['Apple Mail, Chinese', '在 2026年11月20日，10:00，Bot <bot@x.com> 写道：'],
  ['iPhone, Danish', 'Den 20. nov. 2026 kl. 10.00 skrev Bot <bot@x.com>:'],
  ['Thunderbird, English', 'On 11/20/26 10:00, Bot wrote:'],
  ['Thunderbird, German', 'Am 20.11.26 um 10:00 schrieb Bot:'],
  ['Thunderbird, Russian', '20.11.2026 10:00, Bot пишет:'],
  ['Thunderbird, Ukrainian', '20.11.2026 10:00, Bot пише:'],
  ['Thunderbird, Czech', 'Dne 20. 11. 26 v 10:00 Bot napsal(a):'],
  ['Thunderbird, Polish', 'W dniu 20.11.2026 o 10:00, Bot pisze:'],
  ['Yahoo', 'On Friday, November 20, 2026 at 10:00:00 AM GMT+1, Bot <bot@x.com> wrote:'],
  ['Yahoo, indented', '    On Friday, November 20, 2026, 10:00 AM, Bot <bot@x.com> wrote:  '],
  ['Yandex', '20.11.2026, 10:00, "Bot" <bot@x.com>:'],
  ['Mail.ru', 'Пятница, 20 ноября 2026, 10:00 +03:00 от Bot <bot@x.com>:'],
  ['163', '在 2026-11-20 10:00:00，"Bot" <bot@x.com> 写道：'],
  ['163, English', 'At 2026-11-20 10:00:00, "Bot" <bot@x.com> wrote:'],
  ['Onet', 'Dnia 20 listopada 2026 10:00 Bot <bot@x.com> napisał(a):'],
  [
    'ProtonMail',
    '------- Original Message -------\nOn Friday, November 20th, 2026 at 10:00 AM, Bot <bot@x.com> wrote:\n',
  ],
  ['ProtonMail, new', 'On Friday, November 20th, 2026 at 10:00 AM, Bot <bot@x.com> wrote:\n'],
  ['Zoho', '---- On Fri, 20 Nov 2026 10:00:00 +0100 Bot <bot@x.com> wrote ----'],
  ['Fastmail', 'On Fri, 20 Nov 2026, at 10:00 AM, Bot wrote:'],
  ['mutt', 'On Fri, Nov 20, 2026 at 10:00:00AM +0100, Bot wrote:'],
  ['a name and an address', 'Bot <bot@x.com> wrote:'],
  ['three lines', 'On Nov 20, 2026,\nat 10:00,\nBot <bot@x.com> wrote:'],
  ['a line broken after the address', 'fre. 20. nov. 2026 kl. 10:00 skrev Bot <bot@x.com\n>:'],
  ['no colon', 'On Fri, 20 Nov 2026 10:00:00 +0100 Bot <bot@x.com> wrote'],
  ['a date only', 'On Nov 26, 2026 you wrote:'],
  ['a name and an address, German', 'Bot <bot@x.com> schrieb am 20.11.2026 um 10:00:'],
]

describe('below an attribution', () => {
  test.each(ATTRIBUTIONS)('of %s, quoted lines are history', (_, line) => {
    expect(replyText(`Yes, please.\n\n${line}\n${QUOTE}\n`, 'answer')).toBe('Yes, please.')
    expect(replyText(`Yes, please.\n\n${line}\n\n${QUOTE}\n\nThanks!\n`, 'answer')).toBe(
      'Yes, please.\nThanks!',
    )
  })

  test.each(ATTRIBUTIONS)('of %s, unmarked lines are history in an answer', (_, line) => {
    expect(replyText(`Yes, please.\n\n${line}\n\n${HISTORY}\n`, 'answer')).toBe('Yes, please.')
  })
})

const HEADERS: [string, string][] = [
  [
    'Outlook, English',
    'From: Bot <bot@x.com>\nSent: Friday, November 20, 2026 10:00 AM\nTo: Ann <ann@y.com>\nSubject: Room',
  ],
  [
    'Outlook, German',
    'Von: Bot <bot@x.com>\nGesendet: Freitag, 20. November 2026 10:00\nAn: Ann\nBetreff: Raum',
  ],
  [
    'Outlook, French',
    'De : Bot <bot@x.com>\nEnvoyé : vendredi 20 novembre 2026 10:00\nÀ : Ann\nObjet : Salle',
  ],
  ['Outlook, Spanish', 'De: Bot\nEnviado: viernes, 20 de noviembre de 2026 10:00\nPara: Ann\nAsunto: Sala'],
  ['Outlook, Spanish, old', 'De: Bot\nEnviado el: viernes 10:00\nPara: Ann\nAsunto: Sala'],
  ['Outlook, Italian', 'Da: Bot\nInviato: venerdì 20 novembre 2026 10:00\nA: Ann\nOggetto: Sala'],
  [
    'Outlook, Portuguese',
    'De: Bot\nEnviado: sexta-feira, 20 de novembro de 2026 10:00\nPara: Ann\nAssunto: Sala',
  ],
  ['Outlook, Dutch', 'Van: Bot\nVerzonden: vrijdag 20 november 2026 10:00\nAan: Ann\nOnderwerp: Zaal'],
  ['Outlook, Danish', 'Fra: Bot\nSendt: 20. november 2026 10:00\nTil: Ann\nEmne: Lokale'],
  ['Outlook, Swedish', 'Från: Bot\nSkickat: den 20 november 2026 10:00\nTill: Ann\nÄmne: Rum'],
  ['Outlook, Norwegian', 'Fra: Bot\nSendt: fredag 20. november 2026 10:00\nTil: Ann\nEmne: Rom'],
  [
    'Outlook, Finnish',
    'Lähettäjä: Bot\nLähetetty: perjantai 20. marraskuuta 2026 10:00\nVastaanottaja: Ann\nAihe: Huone',
  ],
  ['Outlook, Polish', 'Od: Bot\nWysłano: piątek, 20 listopada 2026 10:00\nDo: Ann\nTemat: Sala'],
  ['Outlook, Czech', 'Od: Bot\nOdesláno: pátek 20. listopadu 2026 10:00\nKomu: Ann\nPředmět: Sál'],
  ['Outlook, Russian', 'От: Bot\nОтправлено: 20 ноября 2026 г. 10:00\nКому: Ann\nТема: Зал'],
  ['Outlook, Ukrainian', 'Від: Bot\nНадіслано: 20 листопада 2026 р. 10:00\nКому: Ann\nТема: Зал'],
  ['Outlook, Turkish', 'Kimden: Bot\nGönderildi: 20 Kasım 2026 Cuma 10:00\nKime: Ann\nKonu: Oda'],
  ['Outlook, Japanese', '差出人: Bot\n送信日時: 2026年11月20日 10:00\n宛先: Ann\n件名: 部屋'],
  ['Outlook, Chinese', '发件人: Bot\n发送时间: 2026年11月20日 10:00\n收件人: Ann\n主题: 房间'],
  ['Outlook, Traditional Chinese', '寄件者: Bot\n寄件日期: 2026年11月20日 10:00\n收件者: Ann\n主旨: 房間'],
  ['Outlook, Korean', '보낸 사람: Bot\n보낸 날짜: 2026년 11월 20일 10:00\n받는 사람: Ann\n제목: 방'],
  ['Outlook on the web', '________________________________\nFrom: Bot\nSent: Friday\nTo: Ann\nSubject: Room'],
  [
    'Outlook for iOS',
    'Get Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\nFrom: Bot\nSent: Friday\nTo: Ann\nSubject: Room',
  ],
  [
    'Outlook for Mac',
    'From: Bot <bot@x.com>\nDate: Friday, November 20, 2026 at 10:00 AM\nTo: Ann\nSubject: Room',
  ],
  [
    'Hotmail, date first',
    'Date: Fri, 20 Nov 2026 10:00:00 +0000\nSubject: Room\nFrom: bot@x.com\nTo: ann@y.com',
  ],
  [
    'Hotmail, subject first',
    'Subject: Room\nTo: ann@y.com\nFrom: bot@x.com\nDate: Fri, 20 Nov 2026 10:00:00 +0000',
  ],
  ['Hotmail, French', 'Date: Fri, 20 Nov 2026 10:00:00\nObjet: Salle\nDe: bot@x.com\nÀ: ann@y.com'],
  [
    'Samsung',
    '-------- Original message --------\nFrom: Bot <bot@x.com> \nDate: 20/11/2026  10:00  (GMT+01:00) \nTo: Ann \nSubject: Room',
  ],
  [
    'Samsung, German',
    '-------- Ursprüngliche Nachricht --------\nVon: Bot <bot@x.com>\nDatum: 20.11.26 10:00 (GMT+01:00)\nAn: Ann\nBetreff: Raum',
  ],
  [
    'Yahoo, old',
    '________________________________\n From: Bot <bot@x.com>\nTo: Ann \nSent: Friday, 20 November 2026, 10:00\nSubject: Room',
  ],
  [
    'QQ',
    '------------------ 原始邮件 ------------------\n发件人: "Bot" <bot@x.com>;\n发送时间: 2026年11月20日(星期五) 上午10:00\n收件人: "Ann";\n主题: 房间',
  ],
  [
    '163, mobile',
    '---- 回复的原邮件 ----\n| 发件人 | Bot<bot@x.com> |\n| 发送日期 | 2026年11月20日 10:00 |\n| 收件人 | Ann |\n| 主题 | 房间 |',
  ],
  ['old Outlook, Italian', '-----Messaggio originale-----\nDa: Bot\nInviato: venerdì\nA: Ann\nOggetto: Sala'],
  [
    'old Outlook, Swedish',
    '-----Ursprungligt meddelande-----\nFrån: Bot\nSkickat: fredag\nTill: Ann\nÄmne: Rum',
  ],
  ['Lotus Notes', 'From:\tBot/Corp\nTo:\tAnn/Corp@Corp\nDate:\t20.11.2026 10:00\nSubject:\tRoom'],
  ['bold labels', '*From:* Bot\n*Sent:* Friday\n*To:* Ann\n*Subject:* Room'],
  ['only three fields', 'From: Bot\nTo: Ann\nSubject: Room'],
]

test.each(HEADERS)('below the header block of %s, everything is history in an answer', (_, block) => {
  expect(replyText(`Yes, please.\n\n${block}\n\n${HISTORY}\n`, 'answer').split('\n')[0]).toBe('Yes, please.')
  expect(replyText(`Yes, please.\n\n${block}\n\n${HISTORY}\n`, 'answer')).not.toContain('Shall I book')
})

describe('in a mail that is no answer, its own words are kept', () => {
  test.each([
    ['a shell command', 'Run this:\n\n> npm install\n> npm start\n\nThen tell me.'],
    ['a line that an mbox escaped', 'Hello,\n\n>From Monday on I am away.\n\nAnn'],
    ['an SMTP transcript', 'The log:\n\n>>> DATA\n<<< 354 go ahead\n>>> .\n<<< 250 ok\n\nAnn'],
    ['Python', 'Try:\n\n>>> import os\n>>> os.getcwd()\n'],
    ['an HTML blockquote', 'As the poet says:\n\n> To be or not to be\n\nAnn'],
    [
      'a letter with a header block',
      'Please archive:\n\nFrom: Berlin office\nDate: Friday\nSubject: Lease\nTo: Archive\n\nThe lease ends in May.',
    ],
    ['a quotation', 'As Smith wrote:\n\nNothing lasts.\n\nAnn'],
    ['a quotation with a year', 'In 1905 Einstein wrote:\n\nThe laws are the same.\n\nAnn'],
    ['a list of what somebody said', 'On Friday Bob said:\n- eggs\n- milk'],
    ['an address before a colon', 'Write to ann@y.com:\n\nDear Ann'],
    ['an appointment', 'On 20 November 2026 at 10:00:\n\nmeeting in room 5'],
    ['an address and a time', 'Hi,\n\nCall bob@x.com on 20.11.2026 10:00:\n\nhe knows.'],
    ['words like a separator', '----- Original recipe -----\nEggs'],
    ['a forward', 'FYI\n\nFrom: Bot\nSent: Friday\nTo: Ann\nSubject: Room\n\nShall I?'],
  ])('%s', (_, text) => expect(replyText(text, 'other')).toBe(text))

  test('but not what stands below a certain attribution', () => {
    expect(
      replyText(`Yes.\n\nOn Fri, Nov 20, 2026 at 10:00 AM Bot <bot@x.com> wrote:\n\n${QUOTE}`, 'other'),
    ).toBe('Yes.')
  })
})

test('a block that only Outlook writes is history even if nothing else says that the mail is an answer, except in a forward', () => {
  const text =
    'Yes.\n\nFrom: Bot <bot@x.com>\nSent: Friday, November 20, 2026 10:00 AM\nTo: Ann\nSubject: Room\n\nShall I?'
  expect(replyText(text, 'other')).toBe('Yes.')
  expect(replyText(text, 'forward')).toBe(text)
})

describe('in an answer, its own words are kept', () => {
  const history = `On Fri, Nov 20, 2026 at 10:00 AM Bot <bot@x.com> wrote:\n\n${QUOTE}`
  test.each([
    ['a quotation', 'As Smith wrote:\n\nNothing lasts.\n\nAnn'],
    ['a quotation with a year', 'In 1905 Einstein wrote:\n\nThe laws are the same.'],
    ['a command above the history', 'Try:\n\n> npm install\n\nAnn'],
    ['Python', 'Try:\n\n>>> import os\n\nAnn'],
    ['an mbox line', 'Hello,\n>From Monday on.\nAnn'],
    ['two fields', 'From: Berlin\nTo: Paris\n\nThat is the trip.'],
    ['an address and a colon', 'Ask bob@x.com:\nhe knows.'],
    ['a sentence that ends with wrote', 'Here is what I wrote:\n\nDear all'],
  ])('%s', (_, text) => expect(replyText(`${text}\n\n${history}`, 'answer')).toBe(text))

  test('between the quotes', () => {
    expect(replyText(`${history}\n\nYes.\n\n> And a second one?\n\nNo.\n`, 'answer')).toBe('Yes.\nNo.')
  })
})

describe('what HTML marks as the message that is answered', () => {
  const html = async (body: string, subject: string) =>
    (
      await parseMail(
        Buffer.from(
          `From: ann@y.com\r\nSubject: ${subject}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${body}`,
        ),
      )
    ).replyText
  const quotes: [string, string][] = [
    [
      'Gmail',
      '<div>Yes.</div><div class="gmail_quote"><div class="gmail_attr">Bot kirjutas:</div><div>Shall I?</div></div>',
    ],
    [
      'Gmail, nested',
      '<p>Yes.</p><div class="gmail_quote"><p>Shall I?</p><div class="gmail_quote"><p>Shall I not?</p></div></div>',
    ],
    ['Yahoo', '<p>Yes.</p><div class="yahoo_quoted"><p>Bot, perjantai:</p><p>Shall I?</p></div>'],
    ['Proton', '<p>Yes.</p><div class="protonmail_quote">Bot:<br>Shall I?</div>'],
    ['GMX', '<p>Yes.</p><div name="quote"><b>Betr.:</b> x<br>Shall I?</div>'],
    ['Outlook', '<p>Yes.</p><hr><div id="divRplyFwdMsg"><b>X:</b> Bot</div><div>Shall I?</div>'],
    [
      'Outlook for Android',
      '<p>Yes.</p><div id="ms-outlook-mobile-body-separator-line"></div><p>Shall I?</p>',
    ],
    [
      'Thunderbird',
      '<p>Yes.</p><div class="moz-cite-prefix">Bot, 2026:</div><blockquote type="cite">Shall I?</blockquote>',
    ],
  ]
  test.each(quotes)('by %s is history in an answer and not elsewhere', async (_, body) => {
    expect(await html(body, 'Re: Room')).toBe('Yes.')
    expect(await html(body, 'Fwd: Room')).toContain('Shall I?')
    expect(await html(body, 'Room')).toContain('Shall I?')
  })

  test('is kept if it is a forwarded message', async () => {
    const body =
      '<p>See:</p><div class="gmail_quote">---------- Forwarded message ---------<br>Shall I?</div>'
    expect(await html(body, 'Re: Room')).toContain('Shall I?')
  })

  test('is all of the text if nothing else was written', async () => {
    expect(await html('<div class="gmail_quote"><p>Shall I?</p></div>', 'Re: Room')).toBe('Shall I?')
  })
})

describe('a mail is an answer', () => {
  const mail = async (headers: string) =>
    (await parseMail(Buffer.from(`From: ann@y.com\r\n${headers}\r\n\r\nYes.\r\n\r\n> Shall I?\r\n`)))
      .replyText
  test.each([
    'Re: x',
    'RE : x',
    'AW: x',
    'Antw: x',
    'SV: x',
    'VS: x',
    'Odp: x',
    'YNT: x',
    'R: x',
    'RES: x',
    'Re[2]: x',
    '[list] Re: x',
    '=?utf-8?B?5Zue5aSN?=: x',
    '=?utf-8?B?0J7RgtCyOiB4?=',
  ])('with the subject “%s”', async (subject) => expect(await mail(`Subject: ${subject}`)).toBe('Yes.'))
  test('with In-Reply-To or References', async () => {
    expect(await mail('In-Reply-To: <a@b>')).toBe('Yes.')
    expect(await mail('References: <a@b>')).toBe('Yes.')
  })
  test.each(['Fwd: x', 'WG: x', 'TR: x', 'RV: x', 'I: x', 'Return: x', 'Room: x', 'Refund: x'])(
    'but not with the subject “%s”',
    async (subject) => expect(await mail(`Subject: ${subject}`)).toBe('Yes.\n\n> Shall I?'),
  )
})

test.each([
  '>\n',
  '> a\n\n',
  'a@b.c wrote:\n\n',
  'On 1/1/26 10:00\n',
  '----- Original Message -----\n',
  'From: a\nTo: b\n',
  '> a@b.c wrote:\n\nx\n',
])('256 KB of %j are read within two seconds', (piece) => {
  const text = `x\n${piece.repeat(260_000 / piece.length)}`
  for (const purpose of ['answer', 'other'] as const) {
    const started = process.cpuUsage()
    replyText(text, purpose)
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000)
  }
})

describe('attributions and header blocks in unusual lines', () => {
  test.each([
    'On Fri, Nov 20, 2026 at 10:00 AM Bot <bot@x.com>\n\nwrote:',
    'Am Fr., 20. Nov.\n2026 um 10:00 Uhr schrieb Bot\n<bot@x.com>:',
    '*From:* Bot <bot@x.com>\n\n*Sent:* Friday, November 20, 2026 10:00 AM\n\n*To:* Ann <ann@y.com>\n\n*Subject:* Room',
  ])('%j', (attribution) => {
    expect(replyText(`Yes, please.\n\n${attribution}\n\n${HISTORY}`)).toBe('Yes, please.')
  })

  test('what a writer quotes in Gmail without an attribution stays, with the words below', async () => {
    const html =
      '<div>You wrote</div><div class="gmail_quote"><blockquote class="gmail_quote">Shall I book?</blockquote></div><div>Yes, please.</div>'
    const raw = `From: ann@y.com\r\nSubject: Re: Room\r\nIn-Reply-To: <1@x.com>\r\nContent-Type: text/html\r\n\r\n${html}\r\n`
    const { replyText: reply } = await parseMail(Buffer.from(raw))
    expect(reply).toContain('Shall I book?')
    expect(reply).toContain('Yes, please.')
  })
})
