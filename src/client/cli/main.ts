#!/usr/bin/env node
import { runCommandLine } from './command-line.ts'
import { createTerminal } from './terminal/terminal.ts'

// `ams messages | head` closes our output: nothing is wrong with that.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await runCommandLine(process.argv.slice(2), createTerminal())
