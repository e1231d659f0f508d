import { expect, test } from 'vitest'
import { parseMail } from '../../src/mail/parse/parse.ts'

/** Ways to have somebody else's code, or one that nobody sees, taken for one that was sent: 666666 is never found. */

const EVIL = '666666'
const CODE = `Your verification code is ${EVIL}.`
const valuesOf = async (head: string, body: string): Promise<string[]> =>
  (
    await parseMail(
      Buffer.from(`From: Shop <no-reply@shop.example>\r\n${head}\r\n\r\n${body.replaceAll('\n', '\r\n')}`),
    )
  ).codes!.map(({ value }) => value)

const hidden = (style: string) => `<p>Hello Ann</p><p style="${style}">${CODE}</p>`

const HTML: Record<string, string> = {
  'not displayed': hidden('display:none'),
  'not displayed, in capitals': hidden('DISPLAY : NONE !important'),
  invisible: hidden('visibility:hidden'),
  collapsed: hidden('visibility:collapse'),
  transparent: hidden('opacity:0'),
  'without size': hidden('font-size:0'),
  'of one pixel': hidden('font-size:1px'),
  'white on white': hidden('color:#ffffff;background:#ffffff'),
  'white on the page': hidden('color:white'),
  'far left': hidden('position:absolute;left:-9999px'),
  'far up': hidden('position:fixed;top:-5000px'),
  'indented away': hidden('text-indent:-9999px;overflow:hidden;white-space:nowrap'),
  'without height': hidden('height:0;overflow:hidden'),
  'without width': hidden('width:0;overflow:hidden'),
  'clipped away': hidden('clip-path:inset(100%)'),
  'scaled away': hidden('transform:scale(0)'),
  'in a comment': `<p>Hello</p><!-- ${CODE} -->`,
  'in a conditional comment': `<p>Hello</p><!--[if mso]><p>${CODE}</p><![endif]-->`,
  'in a template': `<p>Hello</p><template>${CODE}</template>`,
  'in a script': `<p>Hello</p><script>${CODE}</script>`,
  'in a style sheet': `<p>Hello</p><style>/* ${CODE} */</style>`,
  'in a title of the page': `<html><head><title>${CODE}</title></head><body><p>Hello</p></body></html>`,
  'in the attribute hidden': `<p>Hello</p><p hidden>${CODE}</p>`,
  'in a class that hides': `<style>.x{display:none}</style><p>Hello</p><p class="x">${CODE}</p>`,
  'in an id that hides': `<style>#x{display:none}</style><p>Hello</p><p id="x">${CODE}</p>`,
  'in a rule for screens': `<style>@media screen{.x{display:none}}</style><p>Hello</p><p class="x">${CODE}</p>`,
  'in a select that is closed': `<p>Hello</p><datalist><option>${CODE}</option></datalist>`,
  'in a value of a form': `<p>Hello</p><input type="hidden" value="${CODE}">`,
  'in the text of a picture that is hidden': `<p>Hello</p><img style="display:none" alt="${CODE}">`,
  'in a quotation': `<p>See below.</p><blockquote type="cite">${CODE}</blockquote>`,
  'in a quotation of Gmail': `<p>Thanks</p><div class="gmail_quote"><div class="gmail_attr">On Mon, 1 Jan 2024 at 10:00, Shop &lt;no-reply@shop.example&gt; wrote:</div><blockquote class="gmail_quote">${CODE}</blockquote></div>`,
}

test.each(Object.entries(HTML))('HTML, %s', async (_where, html) => {
  const subject = html.includes('quot')
    ? 'Subject: Re: Hello\r\nIn-Reply-To: <1@x.example>'
    : 'Subject: Hello'
  expect(await valuesOf(`${subject}\r\nContent-Type: text/html; charset=utf-8`, html)).not.toContain(EVIL)
})

const ANSWER = 'Subject: Re: Hello\r\nIn-Reply-To: <1@x.example>'
const TEXTS: [where: string, head: string, body: string][] = [
  [
    'the quoted text of an answer',
    ANSWER,
    `No.\n\nOn Mon, 1 Jan 2024, Shop <no-reply@shop.example> wrote:\n> ${CODE}`,
  ],
  [
    'an answer in German',
    ANSWER,
    `Nein.\n\nAm 01.01.2024 um 10:00 schrieb Shop <no-reply@shop.example>:\n> ${CODE}`,
  ],
  [
    'an answer of Outlook',
    ANSWER,
    `No.\n\n-----Original Message-----\nFrom: Shop\nSent: Monday\nTo: Ann\nSubject: Code\n\n${CODE}`,
  ],
  [
    'an answer of Outlook with a rule',
    ANSWER,
    `No.\n\n________________________________\nFrom: Shop <no-reply@shop.example>\nSent: Monday, 1 January 2024 10:00\nTo: Ann\nSubject: Code\n\n${CODE}`,
  ],
  ['the subject of an answer', `Subject: Re: ${CODE}\r\nIn-Reply-To: <1@x.example>`, 'What is this?'],
  ['the subject of a forward', `Subject: Fwd: ${CODE}`, 'See below.'],
  ['the subject of a forward in German', `Subject: WG: ${CODE}`, 'Siehe unten.'],
  ['the subject of an answer in Swedish', `Subject: SV: ${CODE}`, 'Hej'],
  [
    'a forward',
    'Subject: Fwd: Code',
    `See:\n\n---------- Forwarded message ---------\nFrom: Shop <no-reply@shop.example>\nDate: Mon, 1 Jan 2024\nSubject: Code\n\n${CODE}`,
  ],
  [
    'a forward of Apple Mail',
    'Subject: Fwd: Code',
    `See:\n\nBegin forwarded message:\n\nFrom: Shop <no-reply@shop.example>\nSubject: Code\nDate: 1 January 2024\n\n${CODE}`,
  ],
  ['lines that begin with >', 'Subject: Hello', `> ${CODE}`],
  ['nested quotations', 'Subject: Hello', `>> ${CODE}\n> ok`],
  ['a header', `Subject: Hello\r\nX-Code: ${CODE}`, 'Hello'],
  ['the name of the sender', `Subject: Hello\r\nReply-To: "${CODE}" <a@shop.example>`, 'Hello'],
  [
    'an attached text',
    'Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    `--b\nContent-Type: text/plain\n\nHello\n--b\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment; filename=a.txt\n\n${CODE}\n--b--\n`,
  ],
  [
    'an attached mail',
    'Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    `--b\nContent-Type: text/plain\n\nHello\n--b\nContent-Type: message/rfc822\n\nFrom: a@github.com\nSubject: Code\n\n${CODE}\n--b--\n`,
  ],
  [
    'after the last boundary',
    'Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    `--b\nContent-Type: text/plain\n\nHello\n--b--\n${CODE}\n`,
  ],
  [
    'before the first boundary',
    'Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    `${CODE}\n--b\nContent-Type: text/plain\n\nHello\n--b--\n`,
  ],
  [
    'a bounce',
    'Subject: Undelivered\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b',
    `--b\nContent-Type: text/plain\n\nNot delivered.\n--b\nContent-Type: message/delivery-status\n\nStatus: 5.1.1\n--b\nContent-Type: message/rfc822\n\nSubject: Code\n\n${CODE}\n--b--\n`,
  ],
  ['digits of another script, mixed', 'Subject: Hello', 'Your verification code is 666666٣.'],
  ['the middle of a longer number', 'Subject: Hello', 'Your verification code is 1666666666666.'],
  ['a price', 'Subject: Hello', 'Your verification code costs $666666.'],
  ['a phone number', 'Subject: Hello', 'For your verification code call +1 666666.'],
  ['a version', 'Subject: Hello', 'Your verification code needs v1.666666.2.'],
  ['a path', 'Subject: Hello', 'Your verification code: see /a/666666/b.'],
  ['an address', 'Subject: Hello', 'Your verification code: ask 666666@shop.example.'],
  ['a colour', 'Subject: Hello', 'Your verification code is in #666666 grey.'],
  ['an order', 'Subject: Hello', 'Use the code that we send you for your order 666666.'],
  ['an account', 'Subject: Hello', 'We never ask for the verification code of account 666666 on the phone.'],
  ['a count', 'Subject: Hello', 'Never share a verification code. 666666 people did last year.'],
]

test.each(TEXTS)('%s', async (_where, head, body) => {
  expect(await valuesOf(head, body)).not.toContain(EVIL)
})

test('there are 60 ways', () => expect(Object.keys(HTML).length + TEXTS.length).toBeGreaterThanOrEqual(60))
