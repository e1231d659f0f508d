import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/until.ts'
import type { Seeded } from './seeded.ts'
import type { Member, World } from './world.ts'

/** A crash, and the number of seconds after the start at which it happens. */
export interface Crash {
  at: number
  what: 'worker' | 'front' | 'postgres' | 'receiver' | 'pause'
  /**
   * When the worker is killed: at any time, before a POST is answered, or after a POST is answered and before
   * that is recorded.
   */
  step: 'any' | 'before' | 'after'
}

/**
 * Plans one crash of each kind and one more every 20 seconds. The pause is first, since it must outlast a lease.
 */
export const planCrashes = ({ random, pick, shuffled }: Seeded, seconds: number): Crash[] => {
  const steps = ['any', 'before', 'after'] as const
  const plan: Crash[] = []
  for (let from = 0; from < seconds; from += CYCLE_S) {
    plan.push({ at: from + random(), what: 'pause', step: 'any' })
    const others = shuffled([...OTHERS, pick(OTHERS)])
    for (const [index, what] of others.entries()) {
      plan.push({
        at: from + 2 + ((index + random() * 0.8) * (CYCLE_S - 5)) / others.length,
        what,
        step: pick(steps),
      })
    }
  }
  return plan.filter(({ at }) => at < seconds).sort((a, b) => a.at - b.at)
}

const CYCLE_S = 20
const OTHERS = ['worker', 'front', 'postgres', 'receiver'] as const
/** Longer than a lease of 15 s, so that the worker has lost its leases when it resumes. */
const PAUSE_MS = 17_500
/** Maximum time that a crash waits for its step of a delivery. */
const TRAP_MS = 1_000

const pause = async ({ process }: Member): Promise<void> => {
  process.kill('SIGSTOP')
  await sleep(PAUSE_MS)
  process.kill('SIGCONT')
}

/** It may just be starting again after the crash before. */
const killPostgres = async ({ postgres }: World): Promise<void> => {
  const kill = () => {
    try {
      return process.kill(postgres.pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
      throw error
    }
  }
  await until(kill)
}

/**
 * Runs the plan. Resolves when everything that was killed or stopped is running again. Appends each crash to
 * `happened`.
 */
export const runCrashes = async (
  world: World,
  plan: readonly Crash[],
  { pick }: Seeded,
  happened: string[],
): Promise<void> => {
  const began = performance.now()
  const paused = new Set<Member>()
  const recoveries: Promise<void>[] = []
  const candidates = (role: string) =>
    world.members.filter((member) => member.up && !paused.has(member) && member.roles.includes(role))
  const inflict = async ({ what, step }: Crash): Promise<void> => {
    if (what === 'receiver') return world.killReceiver()
    if (what === 'postgres') return killPostgres(world)
    if (what === 'pause') {
      const member = world.members.find(({ roles, up }) => up && roles === 'worker')
      if (!member) return
      paused.add(member)
      await pause(member)
      paused.delete(member)
      return
    }
    if (what === 'worker' && step !== 'any') await world.trap(step, TRAP_MS)
    const victims = candidates(what === 'worker' ? 'worker' : 'api')
    if (victims.length > 0) await world.kill(pick(victims))
  }
  for (const crash of plan) {
    await sleep(Math.max(0, crash.at * 1000 - (performance.now() - began)))
    happened.push(crash.what === 'worker' ? `worker (${crash.step})` : crash.what)
    recoveries.push(inflict(crash))
  }
  await Promise.all(recoveries)
}
