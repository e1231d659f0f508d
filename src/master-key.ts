import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { writePrivate } from './data-dir.ts'
import { resealServiceKeys } from './domain/dkim.ts'
import type { Foundation } from './foundation.ts'
import { createKeyring, type OtherKeys, rewrapDataKeys } from './workspace/keyring.ts'

const newKey = (): Uint8Array => randomBytes(32)

/** One key a line, the one in use first. */
const writeKeys = (file: string, keys: readonly Uint8Array[]): void =>
  writePrivate(file, keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join(''))

const readKeys = (file: string): Uint8Array[] => {
  const lines = readFileSync(file, 'utf8').trim().split(/\s+/)
  const keys = lines.map((line) => Buffer.from(line, 'base64'))
  if (keys.some((key) => key.length !== 32)) {
    throw new ConfigError([`${file} does not hold a key: put back the one that this database was made with.`])
  }
  return keys
}

/** What everything is sealed with, and what may have sealed it before: asked where the key in use doesn't open something. */
export interface MasterKeys {
  masterKey: Uint8Array
  otherKeys: OtherKeys
}

const fileOf = ({ dataDir }: Config) => join(dataDir, 'master.key')

/** The keys of MASTER_KEY, else those in DATA_DIR, where the first start makes one. */
export const readMasterKeys = (config: Config): MasterKeys => {
  const [given, ...others] = config.masterKeys
  if (given) return { masterKey: given, otherKeys: () => others }
  const file = fileOf(config)
  if (!existsSync(file)) writeKeys(file, [newKey()])
  // Read anew each time: `rotate-key` may run beside this process.
  return { masterKey: readKeys(file)[0]!, otherKeys: () => readKeys(file) }
}

/** How much is sealed with another key now. */
export interface Rotated {
  workspaces: number
  dkimKeys: number
}

/** Seals with `masterKey` what is sealed with the master key: all of it or, where a part opens with none of the keys, nothing. */
const reseal = ({ db }: Foundation, masterKey: Uint8Array, otherKeys: OtherKeys): Promise<Rotated> =>
  db.prisma.$transaction(
    async (tx) => ({
      workspaces: await rewrapDataKeys(tx, masterKey, otherKeys),
      dkimKeys: await resealServiceKeys(tx, createKeyring(db, masterKey, otherKeys)),
    }),
    { timeout: 600_000 },
  )

/** Advisory lock key: of two rotations at once the second would take the first one's key for the one before it. */
const ROTATION_LOCK = 4_026_531_841

const alone = async <Result>({ db }: Foundation, work: () => Promise<Result>): Promise<Result> => {
  const client = await db.pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ROTATION_LOCK])
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock($1)', [ROTATION_LOCK]).catch(() => undefined)
    client.release()
  }
}

/**
 * Changes the master key, beside running processes. The one in DATA_DIR: a new key is in the file before anything is sealed with it, and
 * the one before it stays there, so that a crash at any point loses nothing. Of MASTER_KEY: from the later keys to the first.
 */
export const rotateMasterKey = (config: Config, foundation: Foundation): Promise<Rotated> =>
  alone(foundation, async () => {
    const [given, ...others] = config.masterKeys
    if (given && others.length === 0) {
      throw new ConfigError([
        'MASTER_KEY has one key; rotate-key takes the new one and, after a comma, the one in use (first let all processes start with both).',
      ])
    }
    if (given) return reseal(foundation, given, () => others)
    const file = fileOf(config)
    const keys = readKeys(file)
    const fresh = newKey()
    writeKeys(file, [fresh, ...keys])
    const rotated = await reseal(foundation, fresh, () => keys)
    writeKeys(file, [fresh, keys[0]!])
    return rotated
  })
