import type { Command, Input } from './command.ts'
import { UsageError } from './terminal/failure.ts'
import { oneLine, printableJson, readStdin } from './terminal/terminal.ts'

const list = async (input: Input): Promise<void> => {
  const { agent } = await input.open()
  for (const secret of await agent.secrets.list())
    input.terminal.out(
      input.json
        ? printableJson(secret)
        : oneLine(`${secret.name}  set by ${secret.setBy}, ${secret.updatedAt}`),
    )
}

const set = async (input: Input): Promise<void> => {
  const name = input.required(1, 'NAME')
  if (process.stdin.isTTY)
    throw new UsageError('The value is read from standard input: ams secrets set NAME < FILE')
  const value = (await readStdin('The value')).replace(/\r?\n$/, '')
  if (value === '') throw new UsageError('The value is empty: standard input had nothing.')
  const { agent } = await input.open()
  const secret = await agent.secrets.set(name, value)
  if (input.json) input.terminal.out(printableJson(secret))
  else input.terminal.note(`Set ${secret.name}.`)
  if (!secret.guarded)
    input.terminal.note('It is too short or too common: messages of the agent are not searched for it.')
}

const remove = async (input: Input): Promise<void> => {
  const name = input.required(1, 'NAME')
  const { agent } = await input.open()
  await agent.secrets.delete(name)
  if (!input.json) input.terminal.note(`Deleted ${oneLine(name)}.`)
}

export const secrets: Command = {
  usage: 'secrets list | set NAME < FILE | delete NAME',
  summary: 'list, set or delete secrets; values are never printed',
  options: {},
  words: ['list', 'set', 'delete'],
  examples: ['ams secrets list', 'ams secrets set STRIPE_KEY < key.txt', 'ams secrets delete STRIPE_KEY'],
  run: async (input) => {
    const [action] = input.positionals
    input.atMost(action === 'list' ? 1 : 2)
    if (action === 'list') await list(input)
    else if (action === 'set') await set(input)
    else if (action === 'delete') await remove(input)
    else throw new UsageError('One of list, set and delete is needed.')
    return undefined
  },
}
