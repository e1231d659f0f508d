import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../config/config.ts'
import { writePrivate } from '../core/private-file.ts'
import type { OtherKeys } from '../workspace/index.ts'

export const newKey = (): Uint8Array => randomBytes(32)

/** Writes one key per line, the current one first. */
export const writeKeys = (file: string, keys: readonly Uint8Array[]): Promise<void> =>
  writePrivate(file, keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join(''))

export const readKeys = (file: string): Uint8Array[] => {
  const lines = readFileSync(file, 'utf8').trim().split(/\s+/)
  const keys = lines.map((line) => Buffer.from(line, 'base64'))
  if (keys.some((key) => key.length !== 32)) {
    throw new ConfigError([
      `${file} does not contain a key; restore the one that this database was created with.`,
    ])
  }
  return keys
}

/** The current master key, and former keys that are tried when it does not decrypt something. */
export interface MasterKeys {
  masterKey: Uint8Array
  otherKeys: OtherKeys
}

export const masterKeyFile = ({ dataDir }: Config) => join(dataDir, 'master.key')

/** Returns whether there is a master key. If not, the first start creates one. */
export const hasMasterKey = (config: Config): boolean =>
  config.masterKeys.length > 0 || existsSync(masterKeyFile(config))

/** Reads the keys from MASTER_KEY, else from DATA_DIR, where the first start creates one. */
export const readMasterKeys = async (config: Config): Promise<MasterKeys> => {
  const [given, ...others] = config.masterKeys
  if (given) return { masterKey: given, otherKeys: () => others }
  const file = masterKeyFile(config)
  if (!existsSync(file)) await writeKeys(file, [newKey()])
  // Read again each time, because `rotate-key` may run beside this process.
  return { masterKey: readKeys(file)[0]!, otherKeys: () => readKeys(file) }
}
