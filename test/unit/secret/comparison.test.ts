import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Comparison, type Field } from '../../../src/secret/guard/comparison.ts'
import { isGuarded } from '../../../src/secret/guard/guarded.ts'
import { type Random, randomOf } from '../../support/random.ts'

/** What leaves is compared with values of secrets: no form of one passes, and ordinary texts do. */

const root = join(import.meta.dirname, '../../..')
const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const WORDS =
  'correct horse battery staple orange window river seven planet yellow copper garden violin rocket'.split(
    ' ',
  )

/** Values as people store them: keys with prefixes, passwords, numbers, phrases, tokens, certificates. */
const newValue = (random: Random): string => {
  const token = (length: number, from = BASE62) => random.text(length, from)
  const words = () => Array.from({ length: random.int(4, 6) }, () => random.pick(WORDS))
  return random.pick<() => string>([
    () => token(random.int(8, 64)),
    () => `sk_live_51H${token(96)}`,
    () => `ghp_${token(36)}`,
    () => `AKIA${token(16, BASE62.slice(0, 26) + BASE62.slice(52))}`,
    () => token(random.pick([8, 16, 32, 64]), '0123456789abcdef'),
    () => token(random.int(10, 30), `${BASE62}!@#$%^&*()-_=+[]{};:,.<>?/~`),
    () => `${words().join(random.pick([' ', '-', '_', '.']))}${random.int(10, 99)}`,
    () => `postgres://app:${token(16)}@db.internal:5432/app`,
    () => token(8, '0123456789abcdef').replace(/(.{4})/g, '$1-') + token(12, '0123456789abcdef'),
    () => `пароль${token(6)}ключ`,
    () =>
      `-----BEGIN PRIVATE KEY-----\n${token(1600).replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`,
  ])()
}

const random = randomOf(35)
const values = new Set<string>()
while (values.size < 1000) values.add(newValue(random))
const secrets = [...values].map((value, index) => ({ name: `SECRET_${index}`, value }))
const comparison = new Comparison(secrets)

const percent = (value: string, all: boolean): string =>
  [...Buffer.from(value)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return all || !/[A-Za-z0-9]/.test(character) ? `%${byte.toString(16).padStart(2, '0')}` : character
    })
    .join('')
const entities = (value: string): string =>
  [...value]
    .map((character) => {
      const code = character.codePointAt(0)!
      return random.pick([`&#${code};`, `&#x${code.toString(16)};`, character])
    })
    .join('')
const base64 = (value: string): Buffer =>
  Buffer.concat([
    Buffer.from('x'.repeat(random.int(0, 2))),
    Buffer.from(value),
    Buffer.from(random.text(3, BASE62)),
  ])

/** Of each value, a form in which it must not leave, as one or two texts. */
const FORMS: Record<string, (value: string) => string[]> = {
  plain: (value) => [value],
  base64: (value) => [base64(value).toString('base64')],
  'base64 in lines': (value) => [
    base64(value)
      .toString('base64')
      .replace(/(.{76})/g, '$1\r\n'),
  ],
  base64url: (value) => [base64(value).toString('base64url')],
  hex: (value) => [Buffer.from(value).toString('hex')],
  'hex in pairs': (value) => [Buffer.from(value).toString('hex').toUpperCase().replace(/(..)/g, '$1:')],
  percent: (value) => [percent(value, true)],
  'percent of signs': (value) => [percent(value, false)],
  HTML: (value) => [entities(value)],
  reversed: (value) => [[...value].reverse().join('')],
  'upper case': (value) => [value.toUpperCase()],
  'lower case': (value) => [value.toLowerCase()],
  separated: (value) => [[...value].join(random.pick([' ', '-', '.', ' - ', '\n', '_', '/', ', ']))],
  'zero width': (value) => [[...value].join(random.pick(['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad']))],
  'full width': (value) => [
    value.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  ],
  parts: (value) => {
    const at = random.int(1, value.length - 1)
    return [value.slice(0, at), value.slice(at)]
  },
}

const texts = [
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  ...readdirSync(join(root, 'test/corpus'))
    .filter((name) => name.endsWith('.eml'))
    .map((name) => join('test/corpus', name)),
].flatMap((name) => readFileSync(join(root, name), 'utf8').split(/\n\s*\n/))
const ordinary = (): string => random.pick(texts)
const around = (value: string): string => `${ordinary()} ${value} ${ordinary()}`

const asFields = (parts: string[]): Field[] => {
  const [one, other] = parts
  if (other === undefined)
    return [{ name: random.pick(['subject', 'text', 'attachments[0]']), text: around(one!) }]
  return random.pick([
    [
      { name: 'subject', text: around(one!) },
      { name: 'text', text: around(other) },
    ],
    [{ name: 'text', text: `${around(other)}\n${around(one!)}` }],
  ])
}

test('of 10,000 tries with 1,000 secrets none leaves', async () => {
  const missed: string[] = []
  const forms = Object.entries(FORMS)
  for (let tried = 0; tried < 10_000; tried++) {
    const { name, value } = secrets[tried % secrets.length]!
    const [form, write] = forms[Math.floor(tried / secrets.length + tried) % forms.length]!
    const leaks = await comparison.leaksIn(asFields(write(value)))
    if (!leaks.some(({ secret }) => secret === name)) missed.push(`${form}: ${value.slice(0, 80)}`)
  }
  expect(missed).toEqual([])
})

test('of 10,000 ordinary texts at most five are taken for a secret', async () => {
  const found: unknown[] = []
  for (let read = 0; read < 10_000; read++) {
    const text = Array.from({ length: random.int(1, 12) }, ordinary).join('\n\n')
    const leaks = await comparison.leaksIn([
      { name: 'subject', text: ordinary().slice(0, 100) },
      { name: 'text', text },
    ])
    found.push(...leaks.map(({ secret }) => secrets.find(({ name }) => name === secret)?.value))
  }
  expect(found.length, JSON.stringify(found)).toBeLessThanOrEqual(5)
})

test('a part of a value tells nothing: all but its last characters pass', async () => {
  const found: string[] = []
  for (const { name, value } of secrets) {
    // Of a long one, 256 characters are enough; words may be repeated, so that what is missing is there.
    if (!/^[A-Za-z0-9_]{20,512}$/.test(value) || WORDS.some((word) => value.includes(word))) continue
    for (const part of [value.slice(0, -5), value.slice(5), value.slice(0, value.length / 2)]) {
      const leaks = await comparison.leaksIn([{ name: 'text', text: part }])
      if (leaks.some(({ secret }) => secret === name)) found.push(`${part} of ${value}`)
    }
  }
  expect(found).toEqual([])
})

test('names the secrets and the fields', async () => {
  const one = new Comparison([
    { name: 'A', value: 'kD93nfP2mXz8Qw' },
    { name: 'B', value: 'zz81-hhQ2-ppL0' },
  ])
  const leaks = await one.leaksIn([
    { name: 'subject', text: 'first half: kD93nfP' },
    { name: 'text', text: 'nothing here' },
    { name: 'attachments[0]', text: 'second half: 2mXz8Qw, and zz81hhQ2ppL0' },
  ])
  expect(leaks.toSorted((a, b) => a.secret.localeCompare(b.secret))).toEqual([
    { secret: 'A', fields: ['subject', 'attachments[0]'] },
    { secret: 'B', fields: ['attachments[0]'] },
  ])
})

test('finds a value at the seam of two pieces of a large file', async () => {
  const value = 'kD93nfP2mXz8Qw'
  const one = new Comparison([{ name: 'A', value }])
  for (const at of [128 * 1024 - 7, 120 * 1024 - 3, 240 * 1024 - 7, 1024 * 1024]) {
    const text = `${'.'.repeat(at)}${value}${'x '.repeat(200_000)}`
    expect(await one.leaksIn([{ name: 'attachments[0]', text }]), String(at)).toHaveLength(1)
  }
})

test.each([
  'password',
  '12345678',
  'PASSWORD',
  'pass-word',
  'abcdefgh',
  'qwertyuiop',
  '87654321',
  'aaaaaaaa',
  'short',
  '        ',
  'changeme',
])('does not look for %j', (value) => expect(isGuarded(value)).toBe(false))
test.each([
  'kD93nfP2',
  'correct horse battery staple',
  'hunter2hunter2',
  '4929-1234-8888',
  '~!@#$%^&*',
  'пароль-к',
])('looks for %j', (value) => expect(isGuarded(value)).toBe(true))

test('bears values and texts that are made to be slow', async () => {
  const prefix = 'sk_live_'.repeat(20)
  const many = Array.from({ length: 1000 }, (_, index) => ({
    name: `S${index}`,
    value: `${prefix}${String(index).padStart(8, '0')}x`,
  }))
  const slow = new Comparison([...many, { name: 'LONG', value: 'ab'.repeat(30_000) }])
  for (const text of [
    prefix.repeat(60),
    'a'.repeat(500_000),
    '%'.repeat(100_000),
    '&#'.repeat(50_000),
    '<'.repeat(100_000),
    '\\u'.repeat(50_000),
  ])
    expect(await slow.leaksIn([{ name: 'text', text }])).toEqual([])
})
