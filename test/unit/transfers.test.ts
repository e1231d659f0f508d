import { describe, expect, test } from 'vitest'
import { Arrival, type ArrivalLimits } from '../../src/core/http/arrivals.ts'
import { type SlotLimits, TransferSlots } from '../../src/core/http/transfer-slots.ts'
import { until } from '../support/until.ts'

const LIMITS: ArrivalLimits = { minBytesPerSecond: 100, graceMs: 20_000, windowMs: 10_000, tickMs: 1_000 }

/** Simulates a transfer that starts at time 0. */
const transfer = (limits = LIMITS) => {
  const state = { bytes: 0, starved: true, cut: [] as string[] }
  const arrival = new Arrival(
    { received: () => state.bytes, starved: () => state.starved, cut: (why) => state.cut.push(why) },
    limits,
    0,
    () => undefined,
  )
  /** Simulates a second in which this many bytes arrive. */
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

describe('an arriving transfer', () => {
  test('is never cut if it keeps up, and is cut after a window if it stops', () => {
    const { arrival, state, seconds } = transfer()
    seconds(600, 100)
    expect(state.cut).toEqual([])
    seconds(9, 0)
    expect(state.cut).toEqual([])
    seconds(11, 0)
    expect(state.cut).toEqual(['slow'])
    expect(arrival.over).toBe(true)
  })

  test('has a grace period at the start, in which it may be uneven', () => {
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

  test('may take a limited time as a whole, unless it is allowed more', () => {
    const [short, long] = [
      transfer({ ...LIMITS, wholeMs: 300_000 }),
      transfer({ ...LIMITS, wholeMs: 300_000 }),
    ]
    long.arrival.allow(600_000)
    for (const { seconds } of [short, long]) seconds(300, 1_000)
    expect([short.state.cut, long.state.cut]).toEqual([[], []])
    for (const { seconds } of [short, long]) seconds(1, 1_000)
    expect([short.state.cut, long.state.cut]).toEqual([['slow'], []])
    long.seconds(300, 1_000)
    expect(long.state.cut).toEqual(['slow'])
  })

  test('is cut only once, and not after its end', () => {
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

describe('transfer slots', () => {
  const SLOTS: SlotLimits = { total: 2, perSource: 1, keepBytesPerSecond: 1_000, reviewMs: 5 }
  const enter = (slots: TransferSlots, source: string, waitMs = 10) => {
    const one = transfer()
    return { ...one, slot: slots.enter(one.arrival, source, waitMs) }
  }

  test('are given in order and one per source, except to transfers without a source', async () => {
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

  test('are not withheld because an earlier transfer waits for its own source', async () => {
    const slots = new TransferSlots(SLOTS)
    await enter(slots, 'a').slot
    const blocked = enter(slots, 'a', 5_000)
    expect(await enter(slots, 'b').slot).not.toBeNull()
    expect(blocked.state.cut).toEqual([])
  })

  test('go to a source that has had none before those that send much at once', async () => {
    const slots = new TransferSlots(SLOTS)
    const order: string[] = []
    const queue = (source: string) =>
      void enter(slots, source, 5_000).slot.then((slot) => {
        order.push(source)
        setImmediate(() => slot!.leave())
      })
    for (const source of ['a', 'b', 'a', 'a', 'b', 'b', 'c', 'a', 'c']) queue(source)
    await until(() => order.length === 9)
    expect(order.slice(0, 3)).toEqual(['a', 'b', 'c'])
    expect(order.lastIndexOf('c')).toBeLessThan(7)
  })

  test('are taken from the slowest transfer of another source, but not from a fast or a finished one', async () => {
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

  test('are taken from a transfer that becomes slow while another one waits', async () => {
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
