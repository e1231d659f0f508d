import { AmsError } from '../errors.ts'
import { endLogin, loginInBrowser } from './browser-login.ts'
import { type Command, valued } from './command.ts'
import {
  type Credentials,
  deleteStored,
  openAgent,
  openWorkspace,
  readStored,
  writeCredentials,
} from './settings.ts'
import { UsageError } from './terminal/failure.ts'
import { oneLine, printableJson, readStdin, type Terminal } from './terminal/terminal.ts'

/** Whose token it is, and what it may be used for: every token may ask for that. */
const describe = async (credentials: Credentials, id: string | undefined) => {
  const { url } = credentials
  const { kind, workspace, scopes, expiresAt, ...viewer } = await openWorkspace(credentials).viewer()
  const limits = { scopes, expiresAt }
  if (kind === 'member' && id === undefined) {
    const { id: memberId, name, email } = viewer
    return { url, kind, member: { id: memberId, name, email }, workspace, ...limits } as const
  }
  const agent = openAgent(credentials, id)
  const [{ id: agentId, name }, addresses] = await Promise.all([agent.read(), agent.addresses.list()])
  const values = addresses.map(({ channel, value }) => ({ channel, value }))
  return { url, kind: 'agent', agent: { id: agentId, name, addresses: values }, ...limits } as const
}

type Who = Awaited<ReturnType<typeof describe>>

const nameOf = (who: Who): string => {
  if (who.kind === 'member')
    return `${who.member.email}, a member of the workspace ${who.workspace.name} at ${who.url}`
  const { name, id, addresses } = who.agent
  const values = addresses.map(({ value }) => value).join(', ')
  return `${name} (${id}) at ${who.url}${values ? `, reached at ${values}` : ''}`
}

const lineOf = (who: Who): string => {
  const { scopes, expiresAt } = who
  const limits = [
    ...(scopes ? [`scopes ${scopes.join(',')}`] : []),
    ...(expiresAt ? [`expires ${expiresAt}`] : []),
  ]
  return oneLine([nameOf(who), ...limits].join('; '))
}

/** A token from standard input, or, on a terminal, from signing in in a browser. */
const obtainToken = async (url: string, wantsBrowser: boolean, terminal: Terminal): Promise<string> => {
  if (wantsBrowser || process.stdin.isTTY) return loginInBrowser(url, terminal)
  const token = (await readStdin('The token')).trim()
  if (token === '') throw new AmsError('unauthorized', 'No token came over standard input.')
  return token
}

export const login: Command = {
  usage: 'login --url URL [--browser] [< TOKEN-FILE]',
  summary: 'sign in in a browser, or store a token',
  options: {
    url: valued('URL', 'where the service is (or AMS_URL)'),
    browser: { type: 'boolean', help: 'sign in in a browser although standard input is not a terminal' },
  },
  examples: [
    'ams login --url http://localhost:4000',
    'ams login --url http://localhost:4000 < token.txt',
    'pass show ams | ams login --url https://ams.example.com',
  ],
  run: async (input) => {
    input.atMost(0)
    const url = input.text('url') ?? process.env.AMS_URL
    if (!url) throw new UsageError('--url is missing.')
    const token = await obtainToken(url, input.flag('browser'), input.terminal)
    const credentials = { url, token }
    const who = await describe(input.access(credentials), undefined)
    const path = await writeCredentials(credentials)
    input.terminal.note(`Stored in ${path}, readable for you only.`)
    input.terminal.out(input.json ? printableJson(who) : lineOf(who))
    return undefined
  },
}

/** Access tokens from signing in in a browser. Others are revoked where they were made. */
const isOfBrowser = (token: string): boolean => token.startsWith('aot_')

export const logout: Command = {
  usage: 'logout',
  summary: 'forget the stored token; one from signing in in a browser is also revoked',
  options: {},
  examples: ['ams logout'],
  run: async (input) => {
    input.atMost(0)
    const stored = await readStored()
    if (stored && isOfBrowser(stored.token)) await endLogin(stored.url, stored.token)
    await deleteStored()
    input.terminal.note(stored ? `Signed out of ${stored.url}.` : 'Nobody was signed in.')
    return undefined
  },
}

export const whoami: Command = {
  usage: 'whoami',
  summary: 'show whose token is used, and what it may be used for',
  options: {},
  examples: ['ams whoami', 'ams whoami --json'],
  run: async (input) => {
    input.atMost(0)
    const { credentials } = await input.open()
    const who = await describe(input.access(credentials), input.agentId)
    input.terminal.out(input.json ? printableJson(who) : lineOf(who))
    return undefined
  },
}
