import { type Config, ConfigError } from '../config/config.ts'
import { systemClock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { withSessionLock } from '../db/session-lock.ts'
import { resealServiceKeys } from '../email-domain/index.ts'
import {
  createKeyring,
  finishDataKeys,
  type OtherKeys,
  type Resealed,
  replaceDataKey,
  rewrapDataKeys,
} from '../workspace/index.ts'
import type { Foundation } from './foundation.ts'
import { masterKeyFile, newKey, readKeys, writeKeys } from './master-key.ts'
import { SEALED_COLUMNS } from './sealed-columns.ts'

/** Numbers of keys that were re-encrypted. */
export interface Rotated {
  workspaces: number
  dkimKeys: number
}

/**
 * Re-encrypts with `masterKey` everything that is encrypted with a master key: all of it or, if none of the
 * keys decrypts a part, nothing.
 */
const reseal = ({ db }: Foundation, masterKey: Uint8Array, otherKeys: OtherKeys): Promise<Rotated> =>
  db.prisma.$transaction(
    async (tx) => ({
      workspaces: await rewrapDataKeys(tx, masterKey, otherKeys),
      dkimKeys: await resealServiceKeys(tx, createKeyring(db, masterKey, otherKeys)),
    }),
    { timeout: 600_000 },
  )

/**
 * Advisory lock key. Of two concurrent rotations, the second would take the first one's new key for the
 * previous key.
 */
const ROTATION_LOCK = 4_026_531_841

const withRotationLock = <Result>(
  { databaseUrl }: Foundation,
  work: () => Promise<Result>,
): Promise<Result> => withSessionLock(databaseUrl, ROTATION_LOCK, work)

/**
 * Changes the master key while other processes run. For the key in DATA_DIR, the new key is in the file
 * before anything is encrypted with it, and the previous key stays there, so that a crash at any point loses
 * nothing. With MASTER_KEY, re-encrypts with the first key what the later ones encrypted.
 */
export const rotateMasterKey = (config: Config, foundation: Foundation): Promise<Rotated> =>
  withRotationLock(foundation, async () => {
    const [given, ...others] = config.masterKeys
    if (given && others.length === 0) {
      throw new ConfigError([
        'MASTER_KEY has only one key; rotate-key takes the new key and, after a comma, the current one (first start all processes with both).',
      ])
    }
    if (given) return reseal(foundation, given, () => others)
    const file = masterKeyFile(config)
    const keys = readKeys(file)
    const fresh = newKey()
    await writeKeys(file, [fresh, ...keys])
    const rotated = await reseal(foundation, fresh, () => keys)
    await writeKeys(file, [fresh, keys[0]!])
    return rotated
  })

/**
 * Result of a rotation of data keys: workspaces with a new key, re-encrypted values, and old keys that are
 * still stored.
 */
export interface RotatedDataKeys extends Resealed {
  workspaces: number
  retired: number
}

/**
 * Gives every workspace a new data key while other processes run, and re-encrypts what the old keys
 * encrypted. An interrupted run is continued by the next one. The services delete the old keys an hour later,
 * when nothing can be encrypted with them; so does another run.
 */
export const rotateDataKeys = (foundation: Foundation, log: Logger): Promise<RotatedDataKeys> =>
  withRotationLock(foundation, async () => {
    const { db, masterKey, otherKeys = () => [] } = foundation
    const deps = {
      ...db,
      clock: systemClock,
      log,
      keyring: createKeyring(db, masterKey, otherKeys),
      sealed: SEALED_COLUMNS,
    }
    let workspaces = 0
    for (const { id } of await db.prisma.workspace.findMany({ select: { id: true }, orderBy: { id: 'asc' } }))
      if (await replaceDataKey(deps, masterKey, id)) workspaces++
    return { workspaces, ...(await finishDataKeys(deps, { due: false })) }
  })
