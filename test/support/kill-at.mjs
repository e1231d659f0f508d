import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

/**
 * Loaded into a command: right after it has written KILL_AT to its log, or renamed what that names ("rename FROM TO"),
 * it kills the servers on the folders in KILL and, if that has "self", itself. Nothing happens in between.
 */
const { KILL_AT: at, KILL: victims = 'self' } = process.env
let done = false

const reached = (text) => {
  if (done || !text.includes(at)) return
  done = true
  for (const victim of victims.split(',').filter((one) => one !== 'self'))
    process.kill(Number.parseInt(fs.readFileSync(`${victim}/postmaster.pid`, 'utf8'), 10), 'SIGKILL')
  if (victims.includes('self')) process.kill(process.pid, 'SIGKILL')
}

const { renameSync, writeSync } = fs
fs.renameSync = (from, to) => {
  renameSync(from, to)
  reached(`rename ${basename(from)} ${basename(to)}.`)
}
fs.writeSync = (file, text, ...rest) => {
  const written = writeSync(file, text, ...rest)
  if (file === 2) reached(String(text))
  return written
}
syncBuiltinESMExports()
