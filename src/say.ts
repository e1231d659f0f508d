// `npm start -- trace WHAT | head` closes our output: nothing is wrong with that.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

/** Writes a line to stdout, which has what a start or a command has to say, and nothing else. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`)
