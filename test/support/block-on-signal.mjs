import { existsSync } from 'node:fs'

// Loaded into a service by NODE_OPTIONS=--import: while the file BLOCK_WHILE exists, its event loop does not turn.
const wait = new Int32Array(new SharedArrayBuffer(4))
process.on('SIGUSR2', () => {
  while (existsSync(process.env.BLOCK_WHILE)) Atomics.wait(wait, 0, 0, 20)
})
