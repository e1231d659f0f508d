import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type KnownThreads, threadMails } from '../../../src/message/import/threads.ts'

const NONE: KnownThreads = { of: new Map(), awaiting: new Map() }
const mail = (id: string, ...threadReferences: string[]) => ({
  id: `id-${id}`,
  internetMessageId: id,
  threadReferences,
})

/** The mails of each thread. */
const groupsOf = (threads: ReadonlyMap<string, string>): string[][] =>
  [...new Set(threads.values())]
    .map((thread) => [...threads.keys()].filter((id) => threads.get(id) === thread).sort())
    .sort()

test('mails that refer to each other are one thread in any order, and only they', () => {
  const mails = [
    mail('1'),
    mail('2', '1'),
    mail('3', '2'),
    mail('4', '1', '2', '3'),
    mail('x'),
    mail('y', 'x'),
  ]
  fc.assert(
    fc.property(fc.shuffledSubarray(mails, { minLength: mails.length }), (shuffled) => {
      const { threads } = threadMails(shuffled, NONE)
      expect(groupsOf(threads)).toEqual([
        ['id-1', 'id-2', 'id-3', 'id-4'],
        ['id-x', 'id-y'],
      ])
    }),
  )
})

test('an answer joins the thread of the stored message, and the answered one joins those of stored answers', () => {
  const known = { of: new Map([['1', 'a']]), awaiting: new Map([['3', ['b', 'c']]]) }
  const { threads, merged } = threadMails([mail('2', '1'), mail('3')], known)
  expect([...threads]).toEqual([
    ['id-2', 'a'],
    ['id-3', 'b'],
  ])
  expect([...merged]).toEqual([['c', 'b']])
})

test('a mail between two threads makes them one', () => {
  const known = { of: new Map([['1', 'a']]), awaiting: new Map([['2', ['b']]]) }
  const { threads, merged } = threadMails([mail('2', '1')], known)
  expect([...threads]).toEqual([['id-2', 'a']])
  expect([...merged]).toEqual([['b', 'a']])
})

test('mails that refer to themselves and each other end up somewhere', () => {
  const { threads, merged } = threadMails([mail('1', '2', '1'), mail('2', '1')], NONE)
  expect(new Set(threads.values()).size).toBe(1)
  for (const [source, target] of merged) expect(source).not.toBe(target)
})
