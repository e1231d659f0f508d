import { describe, expect, test } from 'vitest'
import { Arrival, type ArrivalLimits } from '../../src/core/arrivals.ts'
import { type SlotLimits, TransferSlots } from '../../src/core/transfer-slots.ts'

const LIMITS: ArrivalLimits = { minBytesPerSecond: 100, graceMs: 20_000, windowMs: 10_000, tickMs: 1_000 }

/** A transfer by hand, at time 0. */
const transfer = (limits = LIMITS) => {
  const state = { bytes: 0, starved: true, cut: [] as string[] }
  const arrival = new Arrival(
    { received: () => state.bytes, starved: () => state.starved, cut: (why) => state.cut.push(why) },
    limits,
    0,
    () => undefined,
  )
  /** A second passes in which so many bytes come. */
  let now = 0
  const second = (bytes: number) => {
    state.bytes += bytes
    now += 1_000
    arrival.look(now)
  }
  const seconds = (count: number, bytes: number) => {
    for (let n = 0; n < count; n++) second(bytes)
  }
  return { arrival, state, seconds }
}

describe('an arrival', () => {
  test('that keeps up is never cut, and one that stops is, after a window', () => {
    const { arrival, state, seconds } = transfer()
    seconds(600, 100)
    expect(state.cut).toEqual([])
    seconds(9, 0)
    expect(state.cut).toEqual([])
    seconds(11, 0)
    expect(state.cut).toEqual(['slow'])
    expect(arrival.over).toBe(true)
  })

  test('has a longer time in the beginning, in which it may come unevenly', () => {
    const { state, seconds } = transfer()
    seconds(19, 0)
    expect(state.cut).toEqual([])
    seconds(1, 2_000)
    expect(state.cut).toEqual([])
    seconds(10, 99)
    expect(state.cut).toEqual(['slow'])
  })

  test('is not cut for time in which it was made to wait', () => {
    const { state, seconds } = transfer()
    state.starved = false
    seconds(600, 0)
    expect(state.cut).toEqual([])
    state.starved = true
    seconds(20, 0)
    expect(state.cut).toEqual(['slow'])
  })

  test('is cut once, and not after its end', () => {
    const first = transfer()
    first.arrival.cut('displaced')
    first.arrival.cut('slow')
    expect(first.state.cut).toEqual(['displaced'])
    const second = transfer()
    second.arrival.end()
    second.arrival.cut('slow')
    expect(second.state.cut).toEqual([])
  })
})

describe('slots', () => {
  const SLOTS: SlotLimits = { total: 2, perSource: 1, keepBytesPerSecond: 1_000, reviewMs: 5 }
  const enter = (slots: TransferSlots, source: string, waitMs = 10) => {
    const one = transfer()
    return { ...one, slot: slots.enter(one.arrival, source, waitMs) }
  }

  test('are given first come, first served, one to a source; nobody in particular is not counted', async () => {
    const slots = new TransferSlots(SLOTS)
    const first = await enter(slots, 'a').slot
    expect(first).not.toBeNull()
    expect(await enter(slots, 'a').slot).toBeNull()
    expect(await enter(slots, '').slot).not.toBeNull()
    expect(await enter(slots, '').slot).toBeNull()
    const waiting = enter(slots, 'b', 5_000)
    first!.leave()
    first!.leave()
    expect(await waiting.slot).not.toBeNull()
    expect(await enter(slots, 'c').slot).toBeNull()
  })

  test('who waits for its own source does not keep the next one back', async () => {
    const slots = new TransferSlots(SLOTS)
    await enter(slots, 'a').slot
    const blocked = enter(slots, 'a', 5_000)
    expect(await enter(slots, 'b').slot).not.toBeNull()
    expect(blocked.state.cut).toEqual([])
  })

  test('are taken from the slowest sender of another source, not from a quick one nor from what is whole', async () => {
    const slots = new TransferSlots({ ...SLOTS, total: 3 })
    const [quick, slow, slower] = [enter(slots, 'a'), enter(slots, 'b'), enter(slots, 'c')]
    quick.seconds(5, 1_000)
    slow.seconds(5, 500)
    slower.seconds(5, 400)
    expect(await enter(slots, 'd').slot).not.toBeNull()
    expect([quick, slow, slower].map(({ state }) => state.cut)).toEqual([[], [], ['displaced']])
    slow.arrival.end()
    expect(await enter(slots, 'e').slot).toBeNull()
    expect(slow.state.cut).toEqual([])
  })

  test('who becomes slow while another waits loses its place then', async () => {
    const slots = new TransferSlots({ ...SLOTS, total: 1 })
    const holder = enter(slots, 'a')
    await holder.slot
    holder.seconds(5, 2_000)
    const waiting = enter(slots, 'b', 5_000)
    expect(holder.state.cut).toEqual([])
    holder.seconds(9, 0)
    expect(await waiting.slot).not.toBeNull()
    expect(holder.state.cut).toEqual(['displaced'])
  })
})
