import { describe, expect, test } from 'vitest'
import { readHeaders } from '../../../src/webhook/format/headers.ts'

test('usual headers are kept as they were given', () => {
  const given = {
    Authorization: 'Bearer sk-0123456789',
    'X-GitHub-Api-Version': '2022-11-28',
    accept: 'application/vnd.github+json',
    cookie: 'a=b; c="d"',
    'x-tab': 'a\tb',
  }
  expect(readHeaders(given)).toEqual(Object.entries(given))
})

describe('refused names', () => {
  test.each([
    'webhook-id',
    'Webhook-Timestamp',
    'WEBHOOK-SIGNATURE',
    'host',
    'Host',
    'content-type',
    'Content-Length',
    'content-encoding',
    'content-anything',
    'connection',
    'keep-alive',
    'proxy-authorization',
    'te',
    'trailer',
    'Transfer-Encoding',
    'upgrade',
    'expect',
    'user-agent',
    'traceparent',
    'X-MCP-Subscription-Id',
  ])('%s is set by the service', (name) => {
    expect(() => readHeaders({ [name]: 'value' })).toThrow(`headers.${name}: is set by the service`)
  })

  test.each(['', ' ', 'a b', 'x:', 'x\r\ny', 'x\n', 'x\0', 'é', 'x/y', 'a,b', '(x)', 'x'.repeat(101)])(
    '%j',
    (name) => {
      expect(() => readHeaders({ [name]: 'value' })).toThrow(/^headers: names must be/)
    },
  )
})

describe('refused values, which no error repeats', () => {
  test.each([
    '',
    ' secret',
    'secret ',
    'secret\t',
    'secret\r\nhost: evil',
    'secret\n',
    'secret\rx',
    'secret\0',
    'secret\x7f',
    'sécret',
    '…cret',
    's'.repeat(4_097),
  ])('%j', (value) => {
    const read = () => readHeaders({ 'X-Token': value })
    expect(read).toThrow(/^headers\.X-Token: must be 1 to 4096 characters/)
    expect(read).not.toThrow(/cret/)
  })
})

test('names differ in more than case, and there are at most 10', () => {
  expect(() => readHeaders({ 'X-A': '1', 'x-a': '2' })).toThrow('headers.x-a: is given twice')
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']))
  expect(readHeaders(many(10))).toHaveLength(10)
  expect(() => readHeaders(many(11))).toThrow('at most 10')
})

test('a value as it is shown keeps the one that is set, and no other', () => {
  const current = [
    ['Authorization', 'Bearer 0123456789abcd'],
    ['x-short', 'abc'],
  ] as const
  expect(readHeaders({ authorization: '…abcd', 'x-short': '…', 'x-new': 'n' }, current)).toEqual([
    ['authorization', 'Bearer 0123456789abcd'],
    ['x-short', 'abc'],
    ['x-new', 'n'],
  ])
  expect(() => readHeaders({ Authorization: '…9999' }, current)).toThrow(/^headers\.Authorization/)
  expect(() => readHeaders({ 'x-other': '…abcd' }, current)).toThrow(/^headers\.x-other/)
})
