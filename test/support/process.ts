import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A separate process that runs `node dist/main.js` with only the given settings. */
export interface ServiceProcess {
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<Exit>
  /** Resolves with the object of the ready line; rejects when the process exits before it. */
  ready(): Promise<{ ready: true; http: string; smtp: string }>
  kill(signal: NodeJS.Signals): void
}

/** What a process of the service has besides its settings. */
export const ownEnvironment = (): Record<string, string> => {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE }
}

const children = new Set<ChildProcess>()

/** Kills the processes that a test left running on a data folder, and removes the folder. */
export async function cleanUp(dataDir: string): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await until(() => children.size === 0)
  const postgres = existsSync(pidFile(dataDir)) ? postgresOf(dataDir) : null
  if (postgres !== null && lives(postgres)) {
    process.kill(postgres, 'SIGQUIT')
    await until(() => !lives(postgres))
  }
  rmSync(dataDir, { recursive: true, force: true })
}

export const run = (settings: Record<string, string>, ...args: string[]): ServiceProcess =>
  runIn(root, settings, ...args)

/** Runs another copy of the project. */
export const runIn = (root: string, settings: Record<string, string>, ...args: string[]): ServiceProcess =>
  runWith(process.execPath, root, settings, ...args)

/** Runs a copy of the project with the Node at this path. */
export function runWith(
  node: string,
  root: string,
  settings: Record<string, string>,
  ...args: string[]
): ServiceProcess {
  const env = { ...ownEnvironment(), PORT: '0', SMTP_PORT: '0', ...settings }
  const child = spawn(node, [join(root, 'dist', 'main.js'), ...args], {
    env,
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk
    })
  }
  const exited = new Promise<Exit>((resolve) =>
    child.on('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal })
    }),
  )
  let ended = false
  void exited.then(() => {
    ended = true
  })
  const lastLine = () => output.stdout.split('\n').at(-2) ?? ''
  return {
    pid: child.pid!,
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    exited,
    async ready() {
      await until(() => ended || lastLine().startsWith('{'))
      if (ended) throw new Error(`the process exited before it was ready: ${output.stderr}`)
      return JSON.parse(lastLine())
    },
    kill: (signal) => child.kill(signal),
  }
}

const pidFile = (dataDir: string) => join(dataDir, 'pg', 'postmaster.pid')

/** Returns the process ID of the PostgreSQL server that runs on a data folder. */
export const postgresOf = (dataDir: string): number =>
  Number.parseInt(readFileSync(pidFile(dataDir), 'utf8'), 10)

/** Tests whether a process is running (a zombie is not). */
export const lives = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
