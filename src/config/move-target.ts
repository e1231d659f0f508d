import { readObjectStore } from './object-store.ts'
import { base64Keys, database } from './parse.ts'
import { ConfigError, type Environment, Reader } from './reader.ts'

/** The installation that a workspace moves to. */
export interface MoveTarget {
  databaseUrl: string
  /** Its master key and, while that is being changed, the previous ones. */
  masterKeys: readonly [Uint8Array, ...Uint8Array[]]
  objectStore: ReturnType<typeof readObjectStore>
}

const PREFIX = 'TO_'

/** The settings of the other installation, under their own names. */
const settingsOf = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), value]] : [],
    ),
  )

/**
 * Reads the settings of the other installation: its own, each with `TO_` before its name. `url` replaces `TO_DATABASE_URL`. Throws one
 * `ConfigError` with all problems.
 */
export const readMoveTarget = (environment: Environment, url: string | undefined): MoveTarget => {
  const reader = new Reader({ ...settingsOf(environment), ...(url !== undefined && { DATABASE_URL: url }) })
  const databaseUrl = reader.read('DATABASE_URL', database)
  const [masterKey, ...others] = reader.read('MASTER_KEY', base64Keys) ?? []
  for (const name of ['DATABASE_URL', 'MASTER_KEY'])
    if (!reader.isSet(name))
      reader.problems.push(`${name} is not set; it takes that of the other installation.`)
  const objectStore = readObjectStore(reader)
  if (reader.problems.length > 0 || databaseUrl === undefined || masterKey === undefined)
    throw new ConfigError(reader.problems.map((problem) => PREFIX + problem))
  return { databaseUrl, masterKeys: [masterKey, ...others], objectStore }
}
