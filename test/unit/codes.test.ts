import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCodes } from '../../src/core/codes/index.ts'
import { parseMail } from '../../src/mail/parse/parse.ts'
import { FRESH, FRESH_ORDINARY, FRESHER, FRESHEST, type Fresh, UNSEEN } from '../corpus/codes/fresh.ts'
import { HELD_OUT } from '../corpus/codes/held-out.ts'
import { type Labelled, mailsWithCodes, ordinaryMails, rawOf } from '../corpus/codes/layouts.ts'
import { LOOK_ALIKES } from '../corpus/codes/look-alikes.ts'
import { WORDING, type Wording } from '../corpus/codes/wording.ts'

/** The codes and links that are found, in mails of 37 languages and in what only looks like them. */

const valuesIn = (text: string, subject: string | null = null): string[] =>
  findCodes({ subject, texts: [text] }).map(({ value }) => value)

const valuesOf = async (raw: Uint8Array): Promise<string[]> =>
  (await parseMail(raw)).codes!.map(({ value }) => value)

interface Score {
  mails: number
  right: number
  missed: string[]
  wrong: string[]
}

const score = async (mails: readonly Labelled[]): Promise<Score> => {
  const found: Score = { mails: mails.length, right: 0, missed: [], wrong: [] }
  for (const mail of mails) {
    const expected = [...mail.codes, ...mail.links]
    const values = await valuesOf(rawOf(mail))
    found.right += expected.filter((value) => values.includes(value)).length
    found.missed.push(...expected.filter((one) => !values.includes(one)).map((one) => `${mail.name}: ${one}`))
    found.wrong.push(...values.filter((one) => !expected.includes(one)).map((one) => `${mail.name}: ${one}`))
  }
  return found
}

const all = (
  wording: Readonly<Record<string, Wording>>,
  make: (language: string, words: Wording) => Labelled[],
) => Object.entries(wording).flatMap(([language, words]) => make(language, words))

describe.each([
  ['the mails that the rules were made with', WORDING],
  ['mails with wording that was held out', HELD_OUT],
])('%s', (_name, wording) => {
  test('of those found at least 99 % are codes, and at least 96 % of the codes are found', async () => {
    const { mails, right, missed, wrong } = await score(all(wording, mailsWithCodes))
    expect(mails).toBeGreaterThan(1_500)
    expect(right / (right + wrong.length), wrong.slice(0, 20).join('\n')).toBeGreaterThanOrEqual(0.99)
    expect(right / (right + missed.length), missed.slice(0, 20).join('\n')).toBeGreaterThanOrEqual(0.96)
  })

  test('of 1,900 ordinary mails at most 5 seem to have one', async () => {
    const mails = all(wording, (language, words) => ordinaryMails(language, words, 66))
    expect(mails.length).toBeGreaterThan(1_900)
    const { wrong } = await score(mails)
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(5)
  })
})

/** What is found in a message that was written out: in a mail, or in an SMS, which has no subject. */
const foundIn = async ([language, subject, body]: Fresh): Promise<string[]> => {
  if (subject === '') return valuesIn(body)
  const part = /^<[a-z]/.test(body) ? { html: body } : { text: body }
  return valuesOf(rawOf({ name: language, subject, ...part, codes: [], links: [] }))
}

test('of messages that were written out, no wording of which the rules were made with at first', async () => {
  const missed: string[] = []
  const wrong: string[] = []
  let right = 0
  for (const message of [...FRESH, ...FRESH_ORDINARY, ...FRESHER, ...FRESHEST, ...UNSEEN]) {
    const [, , body, ...expected] = message
    const values = await foundIn(message)
    right += expected.filter((value) => values.includes(value)).length
    missed.push(...expected.filter((one) => !values.includes(one)).map((one) => `${one} in ${body}`))
    wrong.push(...values.filter((one) => !expected.includes(one)).map((one) => `${one} in ${body}`))
  }
  expect(right / (right + wrong.length), wrong.join('\n')).toBeGreaterThanOrEqual(0.99)
  expect(right / (right + missed.length), missed.join('\n')).toBeGreaterThanOrEqual(0.96)
})

test.each(LOOK_ALIKES)('nothing in: %s', (subject, text) => {
  expect(valuesIn(text, subject)).toEqual([])
})

const corpora = [
  join(import.meta.dirname, '..', 'corpus'),
  ...['mail-gem', 'replies'].map((name) => join(import.meta.dirname, '../../../../shared/corpora', name)),
].filter((folder) => existsSync(folder))

test.each(corpora)('no real mail of %s seems to have a code', async (folder) => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.eml')))
    expect({ name, codes: await valuesOf(readFileSync(join(folder, name))) }).toEqual({ name, codes: [] })
})

describe('forms', () => {
  test.each([
    ['Your verification code is 123 456. It expires at 12:30.', ['123456']],
    ['Your code:\n\n  GH4K-92XM\n\nDo not share it.', ['GH4K-92XM']],
    ['482913 is your OTP', ['482913']],
    ['Ihr Bestätigungscode lautet 90817', ['90817']],
    ['验证码 552013，请勿泄露', ['552013']],
    ['Código: 7741', ['7741']],
    ['G-492013 is your Google verification code.', ['G-492013']],
    ['Your login code is １２３４５６', ['123456']],
    ['رمز التحقق: ١٢٣٤٥٦', ['123456']],
    ['Your verification code:\n4\n8\n2\n9\n1\n3\nIt expires soon.', ['482913']],
    ['<#> Your ExampleApp code is: 482913\nFA+9qCX9VSu', ['482913']],
    ['Your sign-in code is 482913\n\n@example.com #482913', ['482913']],
    ['Use 482913 to verify your account, or 775512 to reset your password.', ['482913', '775512']],
    ['Your recovery codes:\n1234-5678\n2345-6789\n3456-7890', ['12345678', '23456789', '34567890']],
    ['Code of 2026 costs EUR 1234.50, see https://example.com/code/123456', []],
    ['Use this login code:\n\nsulky-brisk-aloud', ['sulky-brisk-aloud']],
    ['Use the login verification code directly:\n\ncbqrs-mnbzr\n', ['cbqrs-mnbzr']],
    ['Never share your code.\n\nsign-in\nhand-written-notes', []],
    ['Your confirmation code is below — enter it and we’ll help you get signed in.\n\nXQK-PLM', ['XQK-PLM']],
    ['Your verification code is ALOTEKIB.', ['ALOTEKIB']],
    ['Your verification code: ABCDEF', ['ABCDEF']],
    ['Your verification code is INVALID.\nYour PAYPAL security code: REQUIRED', []],
    ['Snapchat Code: 482913. Happy Snapping!', ['482913']],
    ['Order 123456 has shipped.', []],
    ['The encoder model 4711', []],
    ['Your verification code for order 123456 is below:\n\n998877', ['998877']],
    ['Booking code: X7K2M9. Your flight departs at 10:30.', []],
    ['Use code SAVE20 at checkout', []],
    ['Call +1 555 010 4477 or 0800 482913', []],
    ['© 2024 Example. Error code 4096. Zip code 94107. QR code 123456', []],
  ])('%s', (text, codes) => {
    expect(valuesIn(text)).toEqual(codes)
  })

  test.each([
    ['Your login code is 482913', 'sign_in'],
    ['Enter this code to log in: 482913', 'sign_in'],
    ['Ihr Anmeldecode lautet 482913', 'sign_in'],
    ['Votre code de connexion est 482913', 'sign_in'],
    ['Tu código de inicio de sesión es 482913', 'sign_in'],
    ['Je inlogcode is 482913', 'sign_in'],
    ['Код для входа: 482913', 'sign_in'],
    ['ログインコード：482913', 'sign_in'],
    ['Your 2FA code: 482913', 'sign_in'],
    ['Your verification code is 482913', 'verify'],
    ['Your activation code is 482913', 'verify'],
    ['Your one-time code is 482913', 'verify'],
    ['Your password reset code is 482913', 'reset'],
  ])('what a code is for, by its name: %s', (text, purpose) => {
    expect(findCodes({ subject: null, texts: [text] })).toEqual([{ value: '482913', kind: 'code', purpose }])
  })

  test.each([
    ['Verify your email', 'Verify your email: https://example.com/verify?token=abcdef', 'verify'],
    ['Sign in', 'Use this magic link to sign in: https://example.com/magic?token=xyz', 'sign_in'],
    ['Verify your email', 'Verify my email <https://example.com/v/a1b2c3d4e5>', 'verify'],
    [
      'Welcome to Acme',
      'Please confirm your email address by clicking the link below:\n\nhttps://acme.example/confirm?token=abc123',
      'verify',
    ],
    [
      'Willkommen',
      'Bitte bestätige deine E-Mail-Adresse: https://acme.example/bestaetigen?token=abc123',
      'verify',
    ],
    ['Acme', 'Reset your password: https://acme.example/password/reset/a8f3b2c1', 'reset'],
    [null, 'Your Acme login link: https://acme.example/l/Zk39dQ', 'sign_in'],
    [null, 'Acme: reset your password https://acme.example/reset?token=a8f3b2c1d4e5f60718293a4b', 'reset'],
  ])('links with short tokens, and in an SMS: %s: %s', (subject, text, purpose) => {
    expect(findCodes({ subject, texts: [text] })).toMatchObject([{ kind: 'link', purpose }])
  })

  test.each([
    ['Verify your email', 'Log in to verify your email: https://example.com/login?lang=english'],
    ['Order received', 'Please confirm your order: https://shop.example/confirm?order=AB482913'],
    ['Delivery', 'Please confirm the booking <https://shop.example/confirm/a8f3b2c1>'],
    [null, 'Sale! Sign in and save: https://shop.example/login?id=Zk39dQ'],
    [null, 'Your login was successful. Our terms: https://shop.example/terms?id=Zk39dQ'],
  ])('no link in %s: %s', (subject, text) => {
    expect(findCodes({ subject, texts: [text] })).toEqual([])
  })

  test('several codes and links of one mail, each with its purpose', () => {
    const token = 'a8f3b2c1d4e5f60718293a4b'
    const text = `Enter 482913 to sign in, or use this link:\nSign in <https://example.com/magic?token=${token}>\n\nForgot your password?\nReset password <https://u1.ct.sendgrid.net/ls/click?upn=${token}>\n\nUnsubscribe <https://example.com/unsubscribe?token=${token}>`
    expect(findCodes({ subject: 'Sign in to Example', texts: [text] })).toEqual([
      { value: '482913', kind: 'code', purpose: 'sign_in' },
      {
        ...{ value: `https://example.com/magic?token=${token}`, kind: 'link', purpose: 'sign_in' },
        host: 'example.com',
      },
      {
        ...{ value: `https://u1.ct.sendgrid.net/ls/click?upn=${token}`, kind: 'link', purpose: 'reset' },
        ...{ host: 'u1.ct.sendgrid.net', tracker: 'SendGrid' },
      },
    ])
  })
})

describe('only what the sender wrote', () => {
  const mail = (head: string, body: string) =>
    Buffer.from(`From: a@example.com\r\n${head}\r\n\r\n${body.replaceAll('\n', '\r\n')}`)

  test.each([
    [
      'an answer',
      'Subject: Re: Your code\r\nIn-Reply-To: <1@x.example>',
      'Thanks!\n\nOn Mon, 1 Jan 2024, Shop <no-reply@shop.example> wrote:\n> Your verification code is 482913',
    ],
    [
      'an answer without words of its own',
      'Subject: Re: Your code\r\nIn-Reply-To: <1@x.example>',
      'On Mon, 1 Jan 2024, Shop <no-reply@shop.example> wrote:\n> Your verification code is 482913',
    ],
    [
      'its subject',
      'Subject: Re: 482913 is your verification code\r\nIn-Reply-To: <1@x.example>',
      'What is this?',
    ],
    [
      'a forward',
      'Subject: Fwd: Your code',
      'See below.\n\n---------- Forwarded message ---------\nFrom: Shop <no-reply@shop.example>\nDate: Mon, 1 Jan 2024\nSubject: Your code\n\nYour verification code is 482913',
    ],
  ])('not in %s', async (_what, head, body) => {
    expect(await valuesOf(mail(head, body))).toEqual([])
  })

  test('its own words in an answer count', async () => {
    const raw = mail(
      'Subject: Re: Code?\r\nIn-Reply-To: <1@x.example>',
      'Your verification code is 775512.\n\n> What is it?',
    )
    expect(await valuesOf(raw)).toEqual(['775512'])
  })

  test('not what people do not see', async () => {
    const html =
      '<p>Your verification code is <b>482913</b>.</p><p style="display:none">Your verification code is 111222.</p>'
    const raw = mail('Subject: Hi\r\nContent-Type: text/html', html)
    expect(await valuesOf(raw)).toEqual(['482913'])
  })
})

describe('hostile texts', () => {
  const long = 200_000
  test.each([
    ['digits', '1'.repeat(long)],
    ['digits in groups', '1 '.repeat(long / 2)],
    ['codes', 'code 482913 '.repeat(long / 12)],
    ['lines', 'code\n482913\n'.repeat(long / 12)],
    ['hyphens', 'A1-'.repeat(long / 3)],
    ['punctuation after a link', `https://x.example/${'.'.repeat(1_900)} `.repeat(long / 1_920)],
    ['links', 'reset https://x.example/reset?token=a8f3b2c1d4e5f607 '.repeat(long / 52)],
    ['letters', 'verification '.repeat(long / 13)],
    ['one word', 'é'.repeat(long)],
    ['spaces', ' '.repeat(long)],
    ['marks', '\u0301\u200b'.repeat(long / 2)],
    ['brackets', '<https://'.repeat(long / 9)],
  ])('%s take no time, and at most 20 are found', (_name, text) => {
    const started = process.cpuUsage()
    const found = findCodes({ subject: text, texts: [text, text] })
    const { user, system } = process.cpuUsage(started)
    expect(found.length).toBeLessThanOrEqual(20)
    expect((user + system) / 1000).toBeLessThan(1_000)
  })
})
