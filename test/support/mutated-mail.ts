import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { plainRtf, tnef } from './tnef.ts'

// Mutations of the corpus reach code that mutations of the handmade mails do not.
const corpus = join(import.meta.dirname, '..', 'corpus')
const corpusMails = readdirSync(corpus).flatMap((name) =>
  name.endsWith('.eml') ? [readFileSync(join(corpus, name))] : [],
)

const handmade = [
  'From: "A, B" <a@x.com>\r\nTo: b@y.com, g: c@z.com;\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?= =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=\r\nMessage-ID: <1@x>\r\n\r\nplain\r\n> quoted\r\n',
  'From: a@x.com\r\nContent-Type: multipart/alternative; boundary="b=1"\r\n\r\n--b=1\r\nContent-Type: text/plain; charset=utf-7; format=flowed; delsp=yes\r\n\r\nHi +AOQ- \r\nyou\r\n--b=1\r\nContent-Type: text/html; charset=cp437\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p style=3D"display:none">x</p><table><tr><td>=E4\r\n--b=1--\r\n',
  'From: a@x.com\r\nContent-Type: multipart/report; boundary=r\r\n\r\n--r\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n--r\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@d.e\r\nContent-Type: multipart/mixed; boundary=r\r\n\r\n--r\r\n\r\nin\r\n--r--\r\n',
  'From: a@x.com\r\nContent-Type: application/pdf; name*0*=utf-8\'\'%e2%82; name*1*=%ac.pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="=?utf-8?Q?=2E=2E/x?="\r\n\r\nJVBERi0=\r\n',
  'ARC-Authentication-Results: i=1; x.com; spf=pass __proto__.a=b (c)\r\nDKIM-Signature: v=1; a=rsa-sha256; c=relaxed/simple; d=x.com; s=s; h=from:to; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA; l=2\r\nARC-Seal: i=1; a=rsa-sha256; cv=none; d=x.com; s=s; b=AA\r\nFrom: a@x.com\r\n\r\nhi\r\n',
  'From: a@x.com\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nDTSTART;TZID=X:20261123T150000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY\r\nSUMMARY:x\r\nATTENDEE;CN=a:mailto:a@x.com\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n--c--\r\n',
  `From: a@x.com\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n${tnef({ text: 'hi', rtf: plainRtf('{\\rtf1\\ansi\\fromtext hi}'), files: [{ name: 'a', content: Buffer.from('a') }] }).toString('base64')}\r\n`,
  'From: a@x.com\r\nContent-Type: text/html; charset=utf-16\r\n\r\n<style>.a b>i[x]{display:none!important;color:#fff} @media screen{p{font:0/0 a}}</style><div class=a style="background:rgba(1,2,3,.4)"><b><i x>y</i></b><a href=z>z</a>',
].map((mail) => Buffer.from(mail))

const seeds = [...handmade, ...handmade, ...handmade, ...corpusMails]

const tokens = [
  '\0',
  '\r',
  '\n',
  '\r\n\r\n',
  '--b=1',
  '--r--',
  '=?',
  '?=',
  '<',
  '>',
  '"',
  '(',
  '@',
  ';',
  ':',
  '=\r\n',
  '\xff\xfe',
  '\x1b$B',
  'Content-Type: ',
  'charset=',
  'boundary=',
  'From: ',
  '__proto__',
  ' __proto__.x=',
  '; __proto__*0=x',
  '<div>',
  '&#',
  '%',
  '\ud800',
]

type Edit = { at: number; kind: 'insert' | 'delete' | 'flip' | 'repeat'; token: string; size: number }
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(4_000),
  kind: fc.constantFrom('insert', 'delete', 'flip', 'repeat'),
  token: fc.constantFrom(...tokens),
  size: fc.integer({ min: 1, max: 40 }),
})

/** Real and handmade mail with a few edits that no program would make. */
export const mutatedMail: fc.Arbitrary<Buffer> = fc
  .tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 12 }))
  .map(([seed, edits]) =>
    edits.reduce((mail, { at, kind, token, size }) => {
      const place = at % (mail.length + 1)
      const [head, tail] = [mail.subarray(0, place), mail.subarray(place)]
      if (kind === 'insert') return Buffer.concat([head, Buffer.from(token, 'latin1'), tail])
      if (kind === 'delete') return Buffer.concat([head, tail.subarray(size)])
      if (kind === 'repeat')
        return Buffer.concat([head, ...Array<Buffer>(size).fill(tail.subarray(0, size)), tail])
      return Buffer.concat([
        head,
        Buffer.from(tail.subarray(0, 1).map((byte) => byte ^ (size << 2))),
        tail.subarray(1),
      ])
    }, seed),
  )
