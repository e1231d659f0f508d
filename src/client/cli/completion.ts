import { COMMON, type Command } from './command.ts'
import { UsageError } from './terminal/failure.ts'
import { shellWord } from './terminal/terminal.ts'

type Commands = Record<string, Command>

const optionsOf = ({ options }: Command): string[] =>
  Object.keys({ ...options, ...COMMON }).map((name) => `--${name}`)
const wordsOf = (command: Command): string => [...(command.words ?? []), ...optionsOf(command)].join(' ')

const bash = (commands: Commands): string => `_ams() {
  local words
  if [ "$COMP_CWORD" -eq 1 ]; then words="${Object.keys(commands).join(' ')}"; else
    case "\${COMP_WORDS[1]}" in
${Object.entries(commands)
  .map(([name, command]) => `      ${name}) words="${wordsOf(command)}" ;;`)
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ams ams`

const zsh = (commands: Commands): string => `#compdef ams
_ams() {
  if (( CURRENT == 2 )); then
    local -a commands=(${Object.entries(commands)
      .map(([name, { summary }]) => shellWord(`${name}:${summary}`))
      .join(' ')})
    _describe command commands
  else
    case $words[2] in
${Object.entries(commands)
  .map(([name, command]) => `      ${name}) compadd -- ${wordsOf(command)}; _files ;;`)
  .join('\n')}
    esac
  fi
}
compdef _ams ams`

const fish = (commands: Commands): string =>
  Object.entries(commands)
    .flatMap(([name, command]) => [
      `complete -c ams -n __fish_use_subcommand -f -a ${name} -d ${shellWord(command.summary)}`,
      ...(command.words ?? []).map(
        (word) => `complete -c ams -n '__fish_seen_subcommand_from ${name}' -f -a ${word}`,
      ),
      ...Object.entries({ ...command.options, ...COMMON }).map(
        ([option, { type, help }]) =>
          `complete -c ams -n '__fish_seen_subcommand_from ${name}' -l ${option}${type === 'string' ? ' -r' : ''} -d ${shellWord(help)}`,
      ),
    ])
    .join('\n')

const SHELLS = { bash, zsh, fish }

/** `commands` are those to complete, as they are when it runs. */
export const completionOf = (commands: () => Commands): Command => ({
  usage: 'completion bash | zsh | fish',
  summary: 'print the completions for a shell',
  options: {},
  words: Object.keys(SHELLS),
  examples: ['source <(ams completion bash)', 'ams completion fish > ~/.config/fish/completions/ams.fish'],
  run: async (input) => {
    const shell = input.required(0, 'The shell')
    input.atMost(1)
    if (!Object.hasOwn(SHELLS, shell)) throw new UsageError('The shell must be bash, zsh or fish.')
    input.terminal.out(SHELLS[shell as keyof typeof SHELLS](commands()))
    return undefined
  },
})
