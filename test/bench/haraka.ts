import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens } from '../support/port.ts'
import { until } from '../support/until.ts'
import { atEnd } from './cleanup.ts'

/** Parses every mail, and then drops it. */
const PLUGIN = `
exports.hook_rcpt = (next) => next(OK)
exports.hook_data = (next, connection) => { connection.transaction.parse_body = true; next() }
exports.hook_queue = (next) => next(OK)
`

/** The package in the folder that HARAKA names, or null. */
const installed = (): string | null => {
  const folder = process.env.HARAKA && join(process.env.HARAKA, 'node_modules', 'Haraka')
  return folder && existsSync(folder) ? folder : null
}

/** Starts a Haraka that parses mails, or returns why it cannot. */
export const startHaraka = async (): Promise<{ port: number; pid: number } | { missing: string }> => {
  const haraka = installed()
  if (haraka === null)
    return { missing: 'Haraka is not installed: set HARAKA to a folder in which `npm install Haraka` ran' }
  const dir = mkdtempSync(join(tmpdir(), 'ams-haraka-'))
  mkdirSync(join(dir, 'plugins'))
  // Without the sections of its own settings, Haraka 3.3.4 ends at the first connection.
  cpSync(join(haraka, 'config'), join(dir, 'config'), { recursive: true })
  const port = await freePort()
  writeFileSync(join(dir, 'config', 'smtp.ini'), `listen=127.0.0.1:${port}\nnodes=0\n`)
  writeFileSync(join(dir, 'config', 'plugins'), 'parse\n')
  writeFileSync(join(dir, 'config', 'loglevel'), 'ERROR\n')
  writeFileSync(join(dir, 'plugins', 'parse.js'), PLUGIN)
  const child: ChildProcess = spawn(process.execPath, [join(haraka, 'bin', 'haraka'), '-c', dir], {
    stdio: 'ignore',
  })
  atEnd(() => {
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })
  await until(() => listens(port))
  return { port, pid: child.pid! }
}
