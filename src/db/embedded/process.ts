import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../core/logger.ts'

const STOP_TIMEOUT_MS = 10_000

/**
 * Returns the fields of /proc/<pid>/stat after the command's name (which may contain spaces and brackets);
 * undefined if there are none.
 */
function procStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/**
 * Returns whether a process with this id runs. A zombie (killed, but not waited for: usual in containers)
 * does not.
 */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false // EPERM: another user's, so it runs
  }
  const state = procStat(pid)?.[0]
  return state !== 'Z' && state !== 'X'
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

function ps(pid: number, column: string): string {
  try {
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}

/**
 * Returns when the process with this id started, as a text that differs for every process: process ids are
 * reused.
 */
export function startTimeOf(pid: number): string {
  const ticks = procStat(pid)?.[19] // field 22 of proc(5): starttime, in ticks since boot
  return ticks === undefined ? ps(pid, 'lstart') : `${read('/proc/sys/kernel/random/boot_id')} ${ticks}`
}

/** Returns the command line of a running process; '' if it is not known. */
export const commandOf = (pid: number): string =>
  read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') || ps(pid, 'command')

/** Servers that this process stops when it exits. */
const ownServers = new Set<number>()

const stopOwnServers = (): void => {
  for (const pid of ownServers) {
    try {
      process.kill(pid, 'SIGINT') // a fast shutdown, which the server completes by itself
    } catch {
      // it has exited
    }
  }
}

/**
 * Stops a server when this process exits, for whatever reason but a SIGKILL. Returns the function that
 * prevents it.
 */
export function stopAtExit(pid: number): () => void {
  if (ownServers.size === 0) process.once('exit', stopOwnServers)
  ownServers.add(pid)
  return () => {
    ownServers.delete(pid)
    if (ownServers.size === 0) process.off('exit', stopOwnServers)
  }
}

/** Stops a server, and resolves when its process has exited. */
export async function terminate(pid: number, log: Logger): Promise<void> {
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(pid, signal)
    } catch {
      // it has exited
    }
  }
  end('SIGINT') // a fast shutdown: open transactions are rolled back, a checkpoint is written
  const deadline = performance.now() + STOP_TIMEOUT_MS
  for (let urged = false; isAlive(pid); await sleep(10)) {
    if (urged || performance.now() < deadline) continue
    urged = true
    log.warn(
      { postgres: pid },
      'PostgreSQL takes too long to stop; forcing it, and it will recover at its next start',
    )
    end('SIGQUIT')
  }
}
