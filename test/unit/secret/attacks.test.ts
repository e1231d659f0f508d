import { expect, test } from 'vitest'
import { Comparison, type Field } from '../../../src/secret/guard/comparison.ts'

/** Ways in which somebody who may read a secret could try to get it out in a message. */

const VALUE = 'kD93nfP2-mXz8Qw7sLr'
const PHRASE = 'correct horse battery staple 91'
const comparison = new Comparison([
  { name: 'KEY', value: VALUE },
  { name: 'PHRASE', value: PHRASE },
])

const each = (value: string, write: (character: string, at: number) => string, between = '') =>
  [...value].map(write).join(between)
const code = (one: string) => one.charCodeAt(0)
const hex = (one: string) => code(one).toString(16).padStart(2, '0')
const base64 = (value: string | Buffer) => Buffer.from(value as string).toString('base64')
const reversed = (value: string) => [...value].reverse().join('')
const half = (value: string) => [value.slice(0, value.length / 2), value.slice(value.length / 2)] as const
const text = (value: string): Field[] => [{ name: 'text', text: `Hello Ann, here it is: ${value} Bye!` }]
const in2 = (one: string, other: string): Field[] => [
  { name: 'subject', text: one },
  { name: 'text', text: other },
]
const shifted = (value: string, from: number) =>
  each(value, (one) => {
    const math = code(one)
    if (one >= 'A' && one <= 'Z') return String.fromCodePoint(from + math - 65)
    return one >= 'a' && one <= 'z' ? String.fromCodePoint(from + 26 + math - 97) : one
  })
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const base32 = (value: string) =>
  (
    each(value, (one) => code(one).toString(2).padStart(8, '0'))
      .padEnd(Math.ceil((value.length * 8) / 5) * 5, '0')
      .match(/.{5}/g) ?? []
  )
    .map((bits) => BASE32[Number.parseInt(bits, 2)])
    .join('')
const rot13 = (value: string) =>
  value.replace(/[a-z]/gi, (one) => {
    const start = one < 'a' ? 65 : 97
    return String.fromCharCode(((code(one) - start + 13) % 26) + start)
  })

const WAYS: Record<string, (value: string) => Field[]> = {
  'as it is': text,
  'in capitals': (value) => text(value.toUpperCase()),
  'with a space between characters': (value) => text(each(value, (one) => one, ' ')),
  'with hyphens': (value) => text(each(value, (one) => one, '-')),
  'with dots': (value) => text(each(value, (one) => one, '.')),
  'with asterisks': (value) => text(each(value, (one) => `*${one}*`, ' ')),
  'in quotation marks': (value) => text(each(value, (one) => `"${one}"`, ', ')),
  'as a list of JSON': (value) => text(JSON.stringify([...value])),
  'as lines': (value) => text(each(value, (one) => one, '\n')),
  'as lines of a quotation': (value) => text(each(value, (one) => `> ${one}`, '\n')),
  'as cells of a table': (value) => text(each(value, (one) => `| ${one} `, '')),
  'as cells of HTML': (value) => text(`<table><tr>${each(value, (one) => `<td>${one}</td>`)}</tr></table>`),
  'as a sum of strings': (value) => text(half(value).join('" + "')),
  'in four strings': (value) => text((value.match(/.{1,5}/g) ?? []).join("' . '")),
  'with emoji between characters': (value) => text(each(value, (one) => one, '😀')),
  'with spaces without width': (value) => text(each(value, (one) => one, '\u200b')),
  'with word joiners': (value) => text(each(value, (one) => one, '\u2060')),
  'with soft hyphens': (value) => text(each(value, (one) => one, '\u00ad')),
  'with tag characters': (value) => text(each(value, (one) => one, '\u{e0041}')),
  'with variation selectors': (value) => text(each(value, (one) => one, '\ufe0f')),
  'with accents': (value) => text(each(value, (one) => (/[a-z]/i.test(one) ? `${one}\u0301` : one))),
  'in full width': (value) =>
    text(each(value, (one) => (one > ' ' ? String.fromCharCode(code(one) + 0xfee0) : one))),
  'in mathematical letters': (value) => text(shifted(value, 0x1d400)),
  'in letters of a typewriter': (value) => text(shifted(value, 0x1d670)),
  'in circles': (value) =>
    text(each(value, (one) => (/[a-z]/.test(one) ? String.fromCodePoint(0x24d0 + code(one) - 97) : one))),
  reversed: (value) => text(reversed(value)),
  'reversed, with spaces': (value) => text(each(reversed(value), (one) => one, ' ')),
  'with an override of the direction': (value) => text(`\u202e${reversed(value)}\u202c`),
  base64: (value) => text(base64(value)),
  'base64, after one byte': (value) => text(base64(`x${value}`)),
  'base64, after two bytes': (value) => text(base64(`xy${value}z`)),
  base64url: (value) => text(Buffer.from(`?>${value}`).toString('base64url')),
  'base64 in lines': (value) => text(base64(value).replace(/(.{8})/g, '$1\r\n')),
  'base64, reversed': (value) => text(reversed(base64(value))),
  'base64 of the reversed value': (value) => text(base64(reversed(value))),
  'base64 of base64': (value) => text(base64(base64(value))),
  'base64 of base64 after 80 KB': (value) => text(`${'Some words. '.repeat(7_000)}${base64(base64(value))}`),
  'base64 of hexadecimal': (value) => text(base64(Buffer.from(value).toString('hex'))),
  base32: (value) => text(base32(value)),
  'base64 of UTF-16': (value) => text(base64(Buffer.from(value, 'utf16le'))),
  hexadecimal: (value) => text(each(value, hex)),
  'hexadecimal in capitals': (value) => text(each(value, hex, ' ').toUpperCase()),
  'hexadecimal with colons': (value) => text(each(value, hex, ':')),
  'hexadecimal with 0x': (value) => text(each(value, (one) => `0x${hex(one)}`, ', ')),
  'hexadecimal with a backslash': (value) => text(each(value, (one) => `\\x${hex(one)}`)),
  'hexadecimal, reversed': (value) => text(reversed(each(value, hex))),
  'hexadecimal of UTF-16': (value) => text(Buffer.from(value, 'utf16le').toString('hex')),
  'percent encoding': (value) => text(each(value, (one) => `%${hex(one)}`)),
  'percent encoding, twice': (value) => text(each(value, (one) => `%25${hex(one)}`)),
  'entities of HTML': (value) => text(each(value, (one) => `&#${code(one)};`)),
  'entities of HTML in hexadecimal': (value) => text(each(value, (one) => `&#x${hex(one)};`)),
  'entities of entities': (value) => text(each(value, (one) => `&amp;#${code(one)};`)),
  'escapes of JSON': (value) => text(each(value, (one) => `\\u00${hex(one)}`)),
  'escapes of JavaScript': (value) => text(each(value, (one) => `\\u{${hex(one)}}`)),
  'escapes of Python': (value) => text(each(value, (one) => `\\U000000${hex(one)}`)),
  'escapes of Perl': (value) => text(each(value, (one) => `\\x{${hex(one)}}`)),
  'escapes of CSS': (value) => text(each(value, (one) => `\\0000${hex(one)}`)),
  'percent encoding with u': (value) => text(each(value, (one) => `%u00${hex(one)}`)),
  'code points': (value) => text(each(value, (one) => `U+00${hex(one).toUpperCase()}`, ' ')),
  'calls of chr': (value) => text(each(value, (one) => `chr(${code(one)})`, ' + ')),
  'calls of CHAR': (value) => text(each(value, (one) => `CHAR(${code(one)})`, ' || ')),
  'in tag characters': (value) => text(each(value, (one) => String.fromCodePoint(0xe0000 + code(one)))),
  'in variation selectors': (value) =>
    text(`😀${each(value, (one) => String.fromCodePoint(0xe0100 + code(one) - 16))}`),
  'quoted-printable': (value) => text(each(value, (one) => `=${hex(one).toUpperCase()}`)),
  'decimal numbers': (value) => text(each(value, (one) => String(code(one)), ' ')),
  'binary numbers': (value) => text(each(value, (one) => code(one).toString(2).padStart(8, '0'), ' ')),
  'octal numbers': (value) => text(each(value, (one) => `\\${code(one).toString(8)}`)),
  ROT13: (value) => text(rot13(value)),
  'ROT13, with spaces': (value) => text(each(rot13(value), (one) => one, ' ')),
  'in the subject and the text': (value) => in2(...half(value)),
  'in the text and the subject': (value) => in2(...(half(value).toReversed() as [string, string])),
  'all but two characters in the subject': (value) => in2(value.slice(0, -2), `The rest: ${value.slice(-2)}`),
  'halves in one text': (value) => text(half(value).join(' and then comes ')),
  'in a link': (value) => text(`<a href="https://x.example/?q=${encodeURIComponent(value)}">here</a>`),
  'in the host of a link': (value) => text(`https://${each(value, hex)}.x.example/`),
  'in a comment of HTML': (value) => text(`<p>Hi</p><!-- ${value} -->`),
  'split by a comment of HTML': (value) => text(half(value).join('<!-- x -->')),
  'split by tags with attributes': (value) =>
    text(each(value, (one) => `<b title="${'>'.repeat(0)}x">${one}</b>`)),
}

test('there are more than 60 ways', () => expect(Object.keys(WAYS).length).toBeGreaterThan(60))

test.each(Object.entries(WAYS))('%s: it does not leave', async (_way, write) => {
  for (const [name, value] of [
    ['KEY', VALUE],
    ['PHRASE', PHRASE],
  ] as const)
    expect(
      (await comparison.leaksIn(write(value))).map(({ secret }) => secret),
      name,
    ).toContain(name)
})
