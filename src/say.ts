/** Writes a line to stdout, which has what a start or a command has to say, and nothing else. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`)
