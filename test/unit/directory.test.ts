import { describe, expect, test } from 'vitest'
import type { FindAnswer, Key } from '../../src/core/cell.ts'
import type { Cell } from '../../src/front/cells.ts'
import { DIRECTORY_LIMITS, Directory } from '../../src/front/directory.ts'
import { createFakeClock } from '../support/clock.ts'

/** Where a front believes that things are. */

const WORKSPACE = '00000000-0000-7000-8000-000000000001'

/** An installation that has these keys; `moving` as long as their workspace moves. Null: it does not answer. */
const fakeCell = (has: readonly Key[] | null) => {
  const questions: Key[][] = []
  const state = { has, moving: [] as Key[], late: Promise.resolve() }
  const cell = {
    async find(keys: readonly Key[]): Promise<FindAnswer | null> {
      questions.push([...keys])
      await state.late
      if (state.has === null) return null
      const found = keys.filter((key) => state.has?.includes(key))
      return { found: Object.fromEntries(found.map((key) => [key, WORKSPACE])), moving: state.moving }
    },
  }
  return { cell: cell as unknown as Cell, questions, state }
}

const open = (has: readonly (readonly Key[] | null)[], limits = DIRECTORY_LIMITS) => {
  const clock = createFakeClock()
  const fakes = has.map(fakeCell)
  const directory = new Directory(
    fakes.map(({ cell }) => cell),
    clock,
    limits,
  )
  const at = async (key: Key) =>
    (await directory.find(key)).map(({ cell }) => fakes.findIndex((fake) => fake.cell === cell))
  return { clock, fakes, directory, at }
}

test('what is asked for at the same time is one question, and is remembered', async () => {
  const { fakes, at, clock } = open([['id:a'], ['id:b']])
  const found = await Promise.all([at('id:a'), at('id:b'), at('id:a'), at('id:c')])
  expect(found).toEqual([[0], [1], [0], []])
  await Promise.all([at('id:a'), at('id:c')])
  for (const { questions } of fakes) expect(questions).toEqual([['id:a', 'id:b', 'id:c']])
  clock.advance(DIRECTORY_LIMITS.missingMs + 1)
  await Promise.all([at('id:a'), at('id:c')])
  expect(fakes[0]!.questions.slice(1)).toEqual([['id:c']])
  clock.advance(DIRECTORY_LIMITS.foundMs)
  await at('id:a')
  expect(fakes[0]!.questions.slice(2)).toEqual([['id:a']])
})

test('the first installation that has it is enough, unless it may be in several', async () => {
  const { fakes, at } = open([[], ['id:a', 'member:m']])
  let answer: () => void = () => undefined
  fakes[0]!.state.late = new Promise((resolve) => {
    answer = resolve
  })
  expect(await at('id:a')).toEqual([1])
  const member = at('member:m')
  fakes[0]!.state.has = ['member:m']
  answer()
  expect(await member).toEqual([0, 1])
})

test('what nobody has is not found only if all say so', async () => {
  const { fakes, at } = open([['id:a'], null])
  expect(await at('id:a')).toEqual([0])
  await expect(at('id:b')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 })
  fakes[1]!.state.has = ['id:b']
  expect(await at('id:b')).toEqual([1])
})

describe('what moves', () => {
  test('is where it was until the other installation has it, and is asked for often', async () => {
    const { fakes, at, clock } = open([['id:a'], []])
    fakes[0]!.state.moving = ['id:a']
    expect(await at('id:a')).toEqual([0])
    fakes[1]!.state.has = ['id:a']
    expect(await at('id:a')).toEqual([0])
    clock.advance(DIRECTORY_LIMITS.missingMs + 1)
    expect(await at('id:a')).toEqual([1, 0])
  })

  test('is asked for anew once it is forgotten', async () => {
    const { fakes, at, directory } = open([['id:a'], []])
    expect(await at('id:a')).toEqual([0])
    fakes[0]!.state.has = []
    fakes[1]!.state.has = ['id:a']
    directory.forget('id:a')
    expect(await at('id:a')).toEqual([1])
  })
})

test('what is remembered, what waits and what is asked at a time is bounded', async () => {
  const { fakes, at } = open([[]], { ...DIRECTORY_LIMITS, kept: 2, waiting: 3, questions: 1 })
  const first = ['id:1', 'id:2', 'id:3'] as const
  const asked = first.map(at)
  await expect(at('id:4')).rejects.toMatchObject({ code: 'unavailable' })
  await Promise.all(asked)
  await at('id:3')
  expect(fakes[0]!.questions).toEqual([[...first]])
  await at('id:1')
  expect(fakes[0]!.questions).toEqual([[...first], ['id:1']])
})
