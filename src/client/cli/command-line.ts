import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { AmsError } from '../errors.ts'
import { agents, domains, tokens } from './administration.ts'
import { ask } from './ask.ts'
import { channel } from './channel.ts'
import { code } from './code.ts'
import { COMMON, type Command, Input } from './command.ts'
import { completionOf } from './completion.ts'
import { helpOf, overview } from './help.ts'
import { importMails } from './import.ts'
import { listen } from './listen.ts'
import { login, logout, whoami } from './login.ts'
import { mcp } from './mcp.ts'
import { attachment, files, mark, wait } from './message-actions.ts'
import { messages, read } from './messages.ts'
import { forward, reply, send } from './outgoing.ts'
import { run } from './run.ts'
import { secrets } from './secrets.ts'
import { setup } from './setup.ts'
import { exitCodeOf, inWords, UsageError } from './terminal/failure.ts'
import { oneLine, printableJson, type Terminal } from './terminal/terminal.ts'

const commands: Record<string, Command> = {
  login,
  logout,
  whoami,
  listen,
  messages,
  read,
  reply,
  send,
  forward,
  mark,
  wait,
  code,
  ask,
  files,
  attachment,
  import: importMails,
  secrets,
  run,
  agents,
  tokens,
  domains,
  mcp,
  channel,
  setup,
  completion: completionOf(() => commands),
}

/** Options stand before `--`. What follows it are positional arguments, or the program to run. */
const split = (args: string[]): [string[], string[]] => {
  const at = args.indexOf('--')
  return at < 0 ? [args, []] : [args.slice(0, at), args.slice(at + 1)]
}

const parse = (command: Command, args: string[], terminal: Terminal): Input => {
  const [own, rest] = command.runsProgram ? split(args) : [args, []]
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...COMMON }).map(([name, { type, multiple = false, short }]) => [
      name,
      { type, multiple, ...(short ? { short } : {}) },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: own, options, allowPositionals: true })
    // A variable of the shell that is not set; only a subject may be empty.
    const empty = Object.keys(values).find((key) => key !== 'subject' && [values[key]].flat().includes(''))
    if (empty !== undefined) throw new Error(`--${empty} is empty.`)
    return new Input(terminal, values, positionals, rest)
  } catch (error) {
    // parseArgs goes on with advice on arguments that begin with a hyphen.
    throw new UsageError((error as Error).message.split('. To specify', 1)[0]!)
  }
}

const perform = async (args: string[], terminal: Terminal): Promise<number> => {
  const [name, ...others] = args
  if (name === '--version') {
    terminal.out(createRequire(import.meta.url)('../package.json').version)
    return 0
  }
  const about = name === 'help' ? others[0] : undefined
  if (about !== undefined && Object.hasOwn(commands, about)) return perform([about, '--help'], terminal)
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview(commands))
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`There is no command ${oneLine(name)}; ams --help lists them.`)
  const input = parse(command, others, terminal)
  if (!input.flag('help')) return (await command.run(input)) ?? 0
  terminal.out(helpOf(command))
  return 0
}

/** What fields of the API are called here, if it is not an option of the same name. */
const ARGUMENTS: Record<string, string> = {
  ...{ id: '--agent', sendAt: '--at', expiresAt: '--expires', attachments: '--attach', text: 'TEXT' },
  ...{ wakeAfterSeconds: '--wake-after', expiresIn: '--expires', options: '--option' },
  ...{ messageId: 'ID', tokenId: 'ID', replyTo: 'ID', forward: 'ID', ids: 'ID' },
}
const OPTIONS = new Set(Object.values(commands).flatMap(({ options }) => Object.keys(options)))

/** The service names the field that broke a rule; who is at a shell gave an argument. */
const inOurWords = (error: Error): string => {
  const field = (error instanceof AmsError && error.field) || ''
  const name = field.replace(/\W.*/, '')
  const argument = ARGUMENTS[name] ?? (OPTIONS.has(name) ? `--${name}` : field)
  return argument + inWords(error).slice(field.length)
}

/** Errors in the form that the results have, on standard error. */
const report = (error: unknown, isJson: boolean, terminal: Terminal): void => {
  const message = inOurWords(error as Error)
  if (!(error instanceof AmsError)) {
    terminal.note(`${terminal.style('red', 'ams:')} ${oneLine(message)}`)
    return
  }
  const { code, status, field, retryAfter, requestId } = error
  const request = requestId === undefined ? '' : ` (request ${oneLine(requestId)})`
  terminal.note(
    isJson
      ? printableJson({ error: { code, message, status, field, retryAfter, requestId } })
      : `${terminal.style('red', 'ams:')} ${oneLine(message)}${request}`,
  )
}

/** Runs a command line, and returns its exit code. */
export const runCommandLine = async (args: string[], terminal: Terminal): Promise<number> => {
  try {
    return await perform(args, terminal)
  } catch (error) {
    report(error, split(args)[0].includes('--json'), terminal)
    return exitCodeOf(error)
  }
}
