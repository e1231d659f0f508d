import { readdirSync, readFileSync } from 'node:fs'
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

/** Starts to count; the returned function returns the CPU used since, for each of `units`. */
export const countCpu = (pids: { node: number; postgres: number | null }): ((units: number) => Cpu) => {
  const node = usedByFamily(pids.node)
  const postgres = usedByFamily(pids.postgres)
  return (units) => ({
    node: (usedByFamily(pids.node) - node) / units,
    postgres: (usedByFamily(pids.postgres) - postgres) / units,
  })
}
