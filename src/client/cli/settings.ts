import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { Agent } from '../agent.ts'
import { AmsError } from '../errors.ts'
import type { ClientOptions } from '../http.ts'
import { Workspace } from '../workspace.ts'
import { UsageError } from './terminal/failure.ts'

export interface Credentials {
  url: string
  token: string
}

type Env = NodeJS.ProcessEnv

const folder = (env: Env, variable: string, ...fallback: string[]): string =>
  join(env[variable] || join(homedir(), ...fallback), 'ams')

const credentialsFile = (env: Env): string =>
  join(folder(env, 'XDG_CONFIG_HOME', '.config'), 'credentials.json')

/** Where `ams listen --exec` keeps its position. */
export const positionFile = (env: Env, { url }: Credentials, agentId: string): string => {
  const service = url.replace(/^https?:\/\//, '').replace(/[^\w.-]/g, '_')
  return join(folder(env, 'XDG_STATE_HOME', '.local', 'state'), `${service}-${agentId}.position`)
}

const readFileOf = async (path: string): Promise<Partial<Credentials>> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new AmsError('invalid_input', `${path}: cannot be read; run ams login again`, { cause: error })
  }
}

/** What `ams login` stored, if anything. */
export const readStored = async (env: Env = process.env): Promise<Credentials | null> => {
  const { url, token } = await readFileOf(credentialsFile(env))
  return url && token ? { url, token } : null
}

export const deleteStored = (env: Env = process.env): Promise<void> =>
  rm(credentialsFile(env), { force: true })

/**
 * AMS_URL and AMS_TOKEN, or what `ams login` stored. Never one of each: a stored token must not go to a service
 * that it does not belong to.
 */
export const readCredentials = async (env: Env = process.env): Promise<Credentials> => {
  const stored = await readFileOf(credentialsFile(env))
  const url = env.AMS_URL || stored.url
  const token = env.AMS_TOKEN || (url === stored.url ? stored.token : undefined)
  if (url && !/^https?:\/\//i.test(url))
    throw new UsageError(`AMS_URL is ${url}: it must begin with http:// or https://.`)
  if (url && token) return { url, token }
  const missing = url ? 'AMS_TOKEN' : 'AMS_URL'
  throw new AmsError('unauthorized', `${missing} is not set. Set AMS_URL and AMS_TOKEN, or run ams login.`)
}

/** Replaces a file that only this user can read: whole, or not at all. */
export const writePrivately = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

export const writeCredentials = async (credentials: Credentials, env: Env = process.env): Promise<string> => {
  const path = credentialsFile(env)
  const { url, token } = credentials
  await writePrivately(path, `${JSON.stringify({ url, token })}\n`)
  return path
}

/** The agent that a command is about. */
export const openAgent = (credentials: ClientOptions, id: string | undefined): Agent =>
  new Agent({ ...credentials, id, client: 'ams/1.1.0', machine: hostname() || 'unknown' })

export const openWorkspace = (credentials: ClientOptions): Workspace => new Workspace(credentials)
