import { AmsError } from '../errors.ts'
import type { Command } from './command.ts'
import { UsageError } from './failure.ts'
import { type Credentials, isMember, openAgent, openWorkspace, writeCredentials } from './settings.ts'
import { oneLine, printableJson, readStdin } from './terminal.ts'

/** Whose token it is. */
const describe = async (credentials: Credentials, id: string | undefined) => {
  const { url } = credentials
  if (isMember(credentials) && id === undefined) {
    const { id: workspaceId, name } = await openWorkspace(credentials).read()
    return { url, kind: 'member', workspace: { id: workspaceId, name } } as const
  }
  const agent = openAgent(credentials, id)
  const [{ id: agentId, name }, addresses] = await Promise.all([agent.read(), agent.addresses.list()])
  const values = addresses.map(({ channel, value }) => ({ channel, value }))
  return { url, kind: 'agent', agent: { id: agentId, name, addresses: values } } as const
}

const lineOf = (who: Awaited<ReturnType<typeof describe>>): string => {
  if (who.kind === 'member') return `a member of the workspace ${oneLine(who.workspace.name)} at ${who.url}`
  const { name, id, addresses } = who.agent
  const values = addresses.map(({ value }) => value).join(', ')
  return oneLine(`${name} (${id}) at ${who.url}${values ? `, reached at ${values}` : ''}`)
}

export const login: Command = {
  usage: 'login --url URL < TOKEN-FILE',
  summary: 'check a token, and store it for this user',
  options: { url: { type: 'string', value: 'URL', help: 'where the service is (or AMS_URL)' } },
  examples: [
    'ams login --url http://localhost:4000 < token.txt',
    'pass show ams | ams login --url https://ams.example.com',
  ],
  run: async (input) => {
    input.atMost(0)
    const url = input.text('url') ?? process.env.AMS_URL
    if (!url) throw new UsageError('--url is missing.')
    if (process.stdin.isTTY)
      throw new UsageError('The token is read from standard input: ams login --url URL < FILE')
    const token = (await readStdin()).trim()
    if (token === '') throw new AmsError('unauthorized', 'No token came over standard input.')
    const credentials = { url, token }
    const who = await describe(credentials, undefined)
    const path = await writeCredentials(credentials)
    input.terminal.note(`Stored in ${path}, readable for you only.`)
    input.terminal.out(input.json ? printableJson(who) : lineOf(who))
    return undefined
  },
}

export const whoami: Command = {
  usage: 'whoami',
  summary: 'show whose token is used',
  options: {},
  examples: ['ams whoami', 'ams whoami --json'],
  run: async (input) => {
    input.atMost(0)
    const { credentials } = await input.open()
    const who = await describe(credentials, input.text('agent') ?? process.env.AMS_AGENT)
    input.terminal.out(input.json ? printableJson(who) : lineOf(who))
    return undefined
  },
}
