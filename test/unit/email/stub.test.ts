import { describe, expect, test } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { rawOf } from '../../support/mail.ts'

/** Which part of a message is read, and codes that are written with one digit in each cell. */

const HTML = `<html><head><style>.c{color:#333}</style></head><body><h1>Confirm your address</h1>
<p>Hello Ann, enter this code to sign in to Acme:</p><p><b>482913</b></p>
<p><a href="https://acme.example/verify?t=abc">Confirm</a></p><p>The code expires in ten minutes.</p></body></html>`

const read = async (text: string, html = HTML, subject = 'Confirm your address') =>
  parseMail(
    await rawOf({ from: 'noreply@acme.example', to: 'bot@x.example', subject, text, html }),
    new Budget(60_000),
  )

describe('a stub beside the HTML is passed over', () => {
  test.each([
    'Please enable HTML to view this message.',
    'This is an HTML email. Your mail client does not support HTML messages.\n',
    'Your email client cannot read this email.\nTo view it online, please go here:\nhttps://acme.example/view/1',
    'View this email in your browser: https://acme.example/view/1',
    'Bitte aktivieren Sie HTML, um diese Nachricht zu lesen.',
    'Confirm your address',
    'confirm your address\n\n',
    'To unsubscribe, click here: https://acme.example/u/1',
    'Unsubscribe <https://acme.example/u/1>\n© 2026 Acme',
    '.c { color: #333; }\nh1,\nh2 { margin: 0 }\n@media (max-width: 600px) { .c { width: 100% } }\n',
    'body{font-family:Arial}\n\nView in browser',
    'Hello Ann, enter this code to sign in to Acme:',
  ])('%j', async (stub) => {
    const { text, textChecks } = await read(stub)
    expect(text).toContain('482913')
    expect(text).toContain('https://acme.example/verify?t=abc')
    const [passedOver] = textChecks.filter(({ name }) => name === 'text')
    expect(passedOver).toMatchObject({ verdict: 'html' })
    expect(passedOver!.detail).toContain(stub.slice(0, 20).trim().split('\n')[0]!)
  })
})

describe('a plain text of its own is read', () => {
  test.each([
    ['Your code is 482913. Confirm: https://acme.example/verify?t=abc', HTML],
    ['Hello Ann, enter this code to sign in to Acme: 482913', HTML],
    ['Please unsubscribe me.', '<p>Please unsubscribe me.</p>'],
    ['Can you fix the HTML of our page?', '<div>Can you fix the HTML of our page?</div>'],
    ['Please enable HTML', '<img src="cid:1">'],
    [
      'Yes, at noon.',
      '<p>Yes, at noon.</p><p>--</p><p>Ann Example, Acme Inc, 1 Main Street, Springfield</p>',
    ],
  ])('%j', async (plain, html) => {
    const { text, textChecks } = await read(plain, html)
    expect(text).toBe(plain)
    expect(textChecks.filter(({ name }) => name === 'text')).toEqual([])
  })
})

describe('a code with one character in each element is one word', () => {
  const cells = (code: string, cell = (one: string) => `<td style="padding:8px">${one}</td>`) =>
    [...code].map(cell).join('\n')
  test.each([
    `<table><tr>${cells('110581')}</tr></table>`,
    `<table><tr><td colspan="6">Your code</td></tr><tr>${cells('110581')}</tr></table>`,
    `<table><tr>${cells('110581', (one) => `<td><p><b> ${one} </b></p></td><td>&nbsp;</td>`)}</tr></table>`,
    cells('110581', (one) => `<span style="border:1px solid">${one}</span>`),
    cells('110581', (one) => `<span><strong>${one}</strong></span>&nbsp;`),
    cells('110581', (one) => `<div style="display:inline-block">${one}</div>`),
    `<div style="display:flex">${cells('110581', (one) => `<div>${one}</div>`)}</div>`,
    `<table><tr>${cells('110581', (one) => `<td><table><tr><td>${one}</td></tr></table></td>`)}</tr></table>`,
  ])('%s', async (html) => {
    const { text } = await read('', `<p>Use</p>${html}<p>now</p>`)
    expect(text).toMatch(/(?<!\S)110581(?!\S)/)
  })

  test.each([
    '<table><tr><td>1</td><td>2</td><td>3</td><td>4</td></tr><tr><td>5</td><td>6</td><td>7</td><td>8</td></tr></table>',
    '<table><tr><td>1</td><td>200</td></tr></table>',
    '<p><a href="/1">1</a> <a href="/2">2</a> <a href="/3">3</a> <a href="/4">4</a></p>',
    '<div>1</div><div>2</div><div>3</div><div>4</div>',
    '<ol><li>1</li><li>2</li><li>3</li><li>4</li></ol>',
  ])('but not %s', async (html) => {
    expect((await read('', html)).text).not.toMatch(/1234|1200/)
  })
})
