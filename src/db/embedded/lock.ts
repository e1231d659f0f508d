import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, startTimeOf } from './process.ts'

/** A running process holds the lock. */
export class LockHeldError extends Error {
  readonly pid: number
  constructor(file: string, pid: number) {
    super(`${file} is held by process ${pid}`)
    this.name = 'LockHeldError'
    this.pid = pid
  }
}

interface Holder {
  pid: number
  /** Start of the process, which distinguishes it from a later one with the same id. */
  born: string
  token: string
}

function holderOf(file: string): { content: string; holder: Holder | undefined } | undefined {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return { content, holder: JSON.parse(content) as Holder }
  } catch {
    return { content, holder: undefined } // truncated by a full disk or a power failure: not a valid lock
  }
}

const holds = ({ pid, born }: Holder) => isAlive(pid) && startTimeOf(pid) === born

/**
 * Removes the lock of a process that has exited. Puts back a newer lock that replaced it after it was
 * checked.
 */
function clear(file: string, content: string): void {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
    if (readFileSync(aside, 'utf8') !== content) linkSync(aside, file)
  } catch {
    // another process was faster; the next attempt sees its lock
  }
  rmSync(aside, { force: true })
}

function tryLock(file: string, mine: Holder): Holder | undefined {
  const draft = `${file}.${mine.token}`
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 })
  try {
    for (;;) {
      try {
        linkSync(draft, file) // atomic, and never visible half-written
        return undefined
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const found = holderOf(file)
      if (found?.holder && holds(found.holder)) return found.holder
      if (found) clear(file, found.content)
    }
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Takes the lock `file` for this process and returns a function that releases it. Waits up to `waitMs`
 * milliseconds for another process to release it, then throws `LockHeldError`. The lock of a process that no
 * longer runs (kill -9, a reboot, a reused process id) is taken over.
 */
export async function takeLock(file: string, waitMs: number): Promise<() => void> {
  const mine: Holder = { pid: process.pid, born: startTimeOf(process.pid), token: randomUUID() }
  const deadline = performance.now() + waitMs
  for (;;) {
    const other = tryLock(file, mine)
    if (!other) break
    if (performance.now() >= deadline) throw new LockHeldError(file, other.pid)
    await sleep(20)
  }
  return () => {
    if (holderOf(file)?.holder?.token === mine.token) rmSync(file, { force: true })
  }
}
