import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Ams, startProgram } from './ams.ts'

const root = join(import.meta.dirname, '..', '..')
export const PYTHON_CLIENT = join(root, 'src', 'client', 'python')

/** Whether this can be run; says so once if it cannot, because what needs it is skipped then. */
const has = (what: string, ...command: [string, ...string[]]): boolean => {
  const [program, ...args] = command
  const isThere = spawnSync(program, args).status === 0
  if (!isThere)
    process.stderr.write(`${what} is missing: the tests of the Python client that need it are skipped\n`)
  return isThere
}

export const hasPython = has(
  'Python 3.10',
  'python3',
  '-c',
  'import sys; sys.exit(sys.version_info < (3, 10))',
)
export const hasVenv = hasPython && has('venv', 'python3', '-c', 'import venv, ensurepip')
export const hasMypy = hasPython && has('mypy', 'mypy', '--version')

/** A Python program that has the client's sources, and fails for what Python warns of. `env` is all of its environment but PATH. */
export const startPython = (env: Record<string, string>, args: string[], stdin?: string): Ams =>
  startProgram(
    'python3',
    { PYTHONPATH: PYTHON_CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...env },
    ['-W', 'error', ...args],
    stdin,
  )

/** Runs it to its end. */
export const python = (env: Record<string, string>, args: string[], stdin = '') =>
  startPython(env, args, stdin).exited
