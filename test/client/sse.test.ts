import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameParser } from '../../src/client/sse.ts'

const parse = (...pieces: string[]) => {
  const parser = new FrameParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

test('an event is its id, its name and its lines of data', () => {
  expect(parse('id: 7\nevent: a\ndata: one\ndata:two\n\n')).toEqual([
    { id: '7', event: 'a', data: 'one\ntwo' },
  ])
})

test('comments, unknown fields and blocks without data are no events', () => {
  expect(parse('retry: 3000\n\n: heartbeat\n\nid: 1\n\nfoo: bar\ndata\n\n')).toEqual([
    { id: '1', event: 'message', data: '' },
  ])
})

test('what the stream ends in the middle of is no event', () => {
  expect(parse('data: cut off\n')).toEqual([])
})

test('the byte order mark at the beginning is skipped', () => {
  expect(parse('\uFEFFdata: x\n\n')).toHaveLength(1)
})

test('the pieces that the text comes in make no difference, whatever ends its lines', () => {
  const lines = fc.array(fc.constantFrom('id: 3', 'event: e', 'data: ä:b', 'data', ': c', ''), {
    maxLength: 20,
  })
  const cuts = fc.array(fc.nat(200), { maxLength: 10 })
  fc.assert(
    fc.property(lines, fc.constantFrom('\n', '\r\n', '\r'), cuts, (given, end, at) => {
      const text = `${given.join(end)}${end}${end}:${end}`
      const borders = [0, ...at.map((cut) => cut % text.length).sort((a, b) => a - b), text.length]
      const pieces = borders.slice(1).map((border, n) => text.slice(borders[n], border))
      const whole = parse(`${given.join('\n')}\n\n:\n`)
      expect(parse(...pieces)).toEqual(whole)
    }),
  )
})
