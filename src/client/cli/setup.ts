import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AmsError } from '../errors.ts'
import type { Command } from './command.ts'
import { MAIN } from './mcp.ts'
import { readCredentials, readStored, writeCredentials, writePrivately } from './settings.ts'
import { UsageError } from './terminal/failure.ts'

/** How a host starts the service's MCP server: the token stays where ams login stored it. */
const SERVER = { command: process.execPath, args: [MAIN, 'mcp'] }
const NAME = 'inbox'

const inJson = (text: string, path: string): string => {
  let settings: { mcpServers?: Record<string, unknown> }
  try {
    settings = JSON.parse(text || '{}')
    if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) throw new Error()
  } catch {
    throw new AmsError('invalid_input', `${path}: is not a JSON object; nothing was changed`)
  }
  const mcpServers = { ...settings.mcpServers, [NAME]: SERVER }
  return `${JSON.stringify({ ...settings, mcpServers }, null, 2)}\n`
}

/** Puts the server's table in place of one that is there, up to the next table. */
const inToml = (text: string): string => {
  const { command, args } = SERVER
  const head = `[mcp_servers.${NAME}]`
  const table = [head, `command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`, '']
  const lines = text.trimEnd().split('\n')
  const start = lines.findIndex((line) => line.trim() === head)
  if (start < 0) return [...(text.trim() === '' ? [] : [...lines, '']), ...table].join('\n')
  const next = lines.findIndex((line, at) => at > start && line.trimStart().startsWith('['))
  lines.splice(start, (next < 0 ? lines.length : next) - start, ...table)
  return lines.join('\n')
}

/** The file of each host in which a user's MCP servers stand. */
const HOSTS: Record<string, { file: string[]; change(text: string, path: string): string }> = {
  claude: { file: ['.claude.json'], change: inJson },
  codex: { file: ['.codex', 'config.toml'], change: inToml },
  cursor: { file: ['.cursor', 'mcp.json'], change: inJson },
  gemini: { file: ['.gemini', 'settings.json'], change: inJson },
}

/** The host starts `ams mcp` without our environment. */
const storeCredentials = async (note: (line: string) => void): Promise<void> => {
  const [used, stored] = [await readCredentials(), await readStored()]
  if (stored === null) note(`Stored the token in ${await writeCredentials(used)}, readable for you only.`)
  else if (stored.url !== used.url || stored.token !== used.token)
    throw new AmsError(
      'invalid_input',
      'AMS_URL and AMS_TOKEN are not what ams login stored, which the host would use: unset them, or run ams login.',
    )
}

export const setup: Command = {
  usage: 'setup claude | codex | cursor | gemini',
  summary: "add the inbox to the MCP servers of a host: writes the host's configuration",
  options: {},
  words: Object.keys(HOSTS),
  examples: ['ams setup claude', 'ams setup codex'],
  run: async (input) => {
    const name = input.required(0, 'The host')
    input.atMost(1)
    const host = Object.hasOwn(HOSTS, name) ? HOSTS[name] : undefined
    if (!host) throw new UsageError(`The host must be one of ${Object.keys(HOSTS).join(', ')}.`)
    const named = join(homedir(), ...host.file)
    const path = await realpath(named).catch(() => named) // a link to where the user keeps it stays one
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const changed = host.change(text, path)
    await storeCredentials(input.terminal.note)
    await writePrivately(path, changed)
    input.terminal.out(`Wrote the MCP server ${NAME} to ${path}. Restart ${name}.`)
    return undefined
  },
}
