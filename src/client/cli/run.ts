import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { AmsError } from '../errors.ts'
import { type Command, valued } from './command.ts'
import { UsageError } from './terminal/failure.ts'
import { Mask, MIN_MASKED_LENGTH } from './terminal/mask.ts'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Runs a program with more in its environment; resolves with its exit code, as shells tell it. */
const runProgram = (
  program: string,
  args: string[],
  secrets: Record<string, string>,
  mask: boolean,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const { AMS_TOKEN: _, ...env } = process.env
    const piped = mask ? 'pipe' : 'inherit'
    const child = spawn(program, args, { env: { ...env, ...secrets }, stdio: ['inherit', piped, piped] })
    const values = Object.values(secrets)
    child.stdout?.pipe(new Mask(values).stream()).pipe(process.stdout, { end: false })
    child.stderr?.pipe(new Mask(values).stream()).pipe(process.stderr, { end: false })
    const forward = (signal: NodeJS.Signals) => {
      // A terminal sends Ctrl-C to both of us.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    for (const signal of FORWARDED) process.on(signal, forward)
    const leave = () => {
      for (const signal of FORWARDED) process.off(signal, forward)
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      leave()
      reject(
        new AmsError(
          'not_found',
          `${program}: ${error.code === 'ENOENT' ? 'no such program' : error.message}`,
        ),
      )
    })
    child.on('close', (code, signal) => {
      leave()
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1))
    })
  })

export const run: Command = {
  usage: 'run --secrets NAME,… [--no-mask] -- PROGRAM [ARGUMENT…]',
  summary: 'run a program with secrets in its environment, and masked in its output',
  runsProgram: true,
  options: {
    secrets: valued('NAME,…', 'the secrets to pass, or all'),
    'no-mask': { type: 'boolean', help: 'show the values if the program prints them' },
  },
  examples: [
    'ams run --secrets STRIPE_KEY,DATABASE_URL -- npm start',
    'ams run --secrets all -- sh -c \'deploy "$TOKEN"\'',
  ],
  run: async (input) => {
    input.atMost(0)
    const [program, ...args] = input.rest
    if (program === undefined)
      throw new UsageError('The program is missing: ams run --secrets NAME -- PROGRAM')
    const asked = input.text('secrets')
    if (!asked) throw new UsageError('--secrets is missing: the names of the secrets, or all.')
    const names = asked === 'all' ? undefined : asked.split(',').map((name) => name.trim())
    const { agent } = await input.open()
    const secrets = await agent.secrets.reveal(names)
    const missing = names?.filter((name) => !Object.hasOwn(secrets, name)) ?? []
    if (missing.length > 0) throw new AmsError('not_found', `There is no secret ${missing.join(', ')}.`)
    const mask = !input.flag('no-mask')
    for (const [name, value] of Object.entries(secrets))
      if (mask && value.length < MIN_MASKED_LENGTH)
        input.terminal.note(
          `ams: ${name} is too short to be masked (fewer than ${MIN_MASKED_LENGTH} characters)`,
        )
    return runProgram(program, args, secrets, mask)
  },
}
