import { COMMON, type Command } from './command.ts'
import { EXIT_CODES } from './terminal/failure.ts'

const optionLines = (options: Command['options']): string[] =>
  Object.entries(options).map(
    ([name, { value, help }]) => `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(22)} ${help}`,
  )

export const helpOf = ({ usage, summary, options, examples }: Command): string =>
  [
    `ams ${usage}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    '',
    'Options:',
    ...optionLines({ ...options, ...COMMON }),
    '',
    'Examples:',
    ...examples.map((example) => `  ${example}`),
  ].join('\n')

export const overview = (commands: Record<string, Command>): string =>
  [
    'ams COMMAND [OPTION…]',
    '',
    'The command line of the Agent Messaging Service.',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`),
    '',
    'AMS_URL and AMS_TOKEN say where the service is and who you are; ams login stores both.',
    'ams COMMAND --help shows the options of a command, with examples.',
    '',
    'Exit codes:',
    ...EXIT_CODES.map(([code, meaning]) => `  ${code}  ${meaning}`),
    '  ams run exits with the code of its program.',
  ].join('\n')
