import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { vi } from 'vitest'
import { runCommandLine } from '../../src/client/cli/command-line.ts'
import { until } from './until.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'client', 'cli', 'main.js')

/** The command line of the client, as a process of its own. */
export interface Ams {
  readonly child: ChildProcess
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<{ code: number | null; stdout: string; stderr: string }>
  /** Resolves once this text was written to either output. */
  said(text: string): Promise<void>
}

const open = new Set<ChildProcess>()
/** Ends what a test left running. */
export const endAms = (): void => {
  for (const child of open) child.kill('SIGKILL')
}

/** `env` is all of its environment but PATH. */
export const startAms = (env: Record<string, string>, args: string[], stdin?: string): Ams =>
  startProgram(process.execPath, env, [MAIN, ...args], stdin)

/** The same of any program. */
export const startProgram = (
  program: string,
  env: Record<string, string>,
  args: string[],
  stdin?: string,
): Ams => {
  const { PATH = '' } = process.env
  const child = spawn(program, args, {
    env: { PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  open.add(child)
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk
    })
  child.stdin.on('error', () => undefined)
  if (stdin !== undefined) child.stdin.end(stdin)
  const exited = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => {
      open.delete(child)
      resolve({ code, ...said })
    }),
  )
  return {
    child,
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
    exited,
    said: async (text) => {
      await until(() => said.stdout.includes(text) || said.stderr.includes(text))
    },
  }
}

/** Runs it to its end. */
export const ams = (env: Record<string, string>, args: string[], stdin = '') =>
  startAms(env, args, stdin).exited

/** Runs what reads nothing from standard input in this process: a process of its own takes hundreds of times as long. */
export const amsHere = async (env: Record<string, string>, args: string[]) => {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    const code = await runCommandLine(args, {
      out: (line) => void stdout.push(line),
      note: (line) => void stderr.push(line),
      style: (_, text) => text,
    })
    return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
  } finally {
    vi.unstubAllEnvs()
  }
}
