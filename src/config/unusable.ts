import { messageOf } from '../core/errors.ts'
import { ConfigError, shown } from './reader.ts'

/** Name of a setting, and the value in use. */
type Setting = readonly [name: string, value: string | number]

/**
 * Returns the error for a setting that is well-formed but cannot be used. `takes` continues the phrase "it
 * takes".
 */
export const unusable = ([name, value]: Setting, takes: string): ConfigError =>
  new ConfigError([
    `${name} is ${typeof value === 'number' ? value : shown(name, value)}; it takes ${takes}.`,
  ])

interface ListenError {
  code?: string
  syscall?: string
}

const refusalOf = (error: unknown, host: Setting, port: Setting): ConfigError | undefined => {
  const { code, syscall } = (error ?? {}) as ListenError
  if (syscall === 'getaddrinfo')
    return unusable(host, `a name or an address of this machine: this name is not known (${code})`)
  if (syscall !== 'listen') return undefined
  if (code === 'EADDRINUSE')
    return unusable(port, `a port that is free on ${host[1]}: another program listens there already`)
  if (code === 'EACCES') return unusable(port, `a port that this user may listen on (${code})`)
  return unusable(host, `an address of this machine (${code})`)
}

/**
 * Resolves as `opening` does. When its address cannot be listened on, throws a `ConfigError` with the name of
 * the responsible setting.
 */
export const listening = async <T>(host: Setting, port: Setting, opening: Promise<T>): Promise<T> => {
  try {
    return await opening
  } catch (error) {
    throw refusalOf(error, host, port) ?? error
  }
}

/** Returns why something failed, in a few words: the system's error code if there is one. */
export const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? messageOf(error)
