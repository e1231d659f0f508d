import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cpu } from './row.ts'

/** Clock ticks a second in /proc: `getconf CLK_TCK` is 100 on every Linux that Node supports. */
const TICK_US = 10_000

/** Returns the fields of /proc/PID/stat from the third on (the second, the name, may contain anything). */
const statOf = (pid: number): string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

const [PARENT, USER, SYSTEM, WAITED_USER, WAITED_SYSTEM] = [1, 11, 12, 13, 14]

/** Returns the CPU time of a process with its threads and the children that it waited for. */
const usedBy = (pid: number): number => {
  try {
    const stat = statOf(pid)
    return [USER, SYSTEM, WAITED_USER, WAITED_SYSTEM].reduce((sum, at) => sum + Number(stat[at]), 0) * TICK_US
  } catch {
    return 0 // it has ended
  }
}

/** Returns a process and all of its descendants. */
const familyOf = (root: number): number[] => {
  const children = new Map<number, number[]>()
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const parent = Number(statOf(pid)[PARENT])
      children.set(parent, [...(children.get(parent) ?? []), pid])
    } catch {
      // it has just ended
    }
  }
  const family = [root]
  for (const pid of family) family.push(...(children.get(pid) ?? []))
  return family
}

/** Returns the CPU time of a process and its descendants in microseconds; 0 where there is no /proc. */
export const usedByFamily = (pid: number | null): number =>
  pid !== null && process.platform === 'linux'
    ? familyOf(pid).reduce((sum, each) => sum + usedBy(each), 0)
    : 0

/** Returns the CPU time of several processes, none a descendant of another, and their descendants in microseconds. */
export const usedByAll = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + usedByFamily(pid), 0)

/** Whose CPU to count: the process or processes of a server, and its PostgreSQL. */
export interface Counted {
  node: number | readonly number[]
  postgres: number | null
}

/** Starts to count; the returned function returns the CPU used since, for each of `units`. */
export const countCpu = (pids: Counted): ((units: number) => Cpu) => {
  const servers = [pids.node].flat()
  const node = usedByAll(servers)
  const postgres = usedByFamily(pids.postgres)
  return (units) => ({
    node: (usedByAll(servers) - node) / units,
    postgres: (usedByFamily(pids.postgres) - postgres) / units,
  })
}

/** A process at rest takes less than this share of a core, for so long. */
const REST = { share: 0.05, ms: 1_000 }

/** Resolves when the processes have done what they do after their answers, such as indexing. */
export const atRest = async (pids: readonly number[]): Promise<void> => {
  for (;;) {
    const before = usedByAll(pids)
    await sleep(REST.ms)
    if (usedByAll(pids) - before < REST.share * REST.ms * 1_000) return
  }
}
