import type { KeyObject } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { type Keyring, NIL, type SealedColumn } from '../workspace/index.ts'
import { bindingOfHeaders } from './format/headers.ts'
import { keyOf } from './post/sign.ts'

/** A stored signing secret is bound to its webhook. */
const bindingOf = (webhookId: string): string => `webhook:${webhookId}`

export const sealSecret = (
  keyring: Keyring,
  workspaceId: string,
  webhookId: string,
  secret: string,
): Promise<Buffer> => keyring.seal(workspaceId, secret, bindingOf(webhookId))

export const openSecret = async (
  keyring: Keyring,
  workspaceId: string,
  webhookId: string,
  sealed: Uint8Array,
): Promise<string> => (await keyring.open(workspaceId, sealed, bindingOf(webhookId))).toString()

/** Keys that deliveries are signed with: the current secret, and the previous one while that is valid. */
export interface SigningKeys {
  current: KeyObject
  previous: { key: KeyObject; until: Date } | null
}

/** Returns the keys that are valid at a given time, newest first. */
export const keysAt = ({ current, previous }: SigningKeys, now: Date): readonly KeyObject[] =>
  previous && now < previous.until ? [current, previous.key] : [current]

interface SealedKeys {
  id: string
  workspace_id: string
  secret: Uint8Array
  previous_secret: Uint8Array | null
  previous_until: Date | null
}

/** Returns the keys that a webhook's deliveries are signed with; null when they cannot be decrypted. */
export const openKeys = async (
  { keyring, clock, log }: { keyring: Keyring; clock: Clock; log: Logger },
  row: SealedKeys,
): Promise<SigningKeys | null> => {
  const open = async (sealed: Uint8Array) =>
    keyOf(await openSecret(keyring, row.workspace_id, row.id, sealed))
  const { previous_secret: previous, previous_until: until } = row
  try {
    return {
      current: await open(row.secret),
      previous: previous && until && until > clock.now() ? { key: await open(previous), until } : null,
    }
  } catch (error) {
    log.error(
      { webhookId: row.id, error: messageOf(error) },
      'could not decrypt the signing secret of a webhook',
    )
    return null
  }
}

const sealedIn = (table: string, column: string, update: string, binding = 'webhook:%s'): SealedColumn => ({
  name: `${table}.${column}`,
  first: [NIL],
  page: `
    select array[w.id::text] as at, w.${column} as sealed, format('${binding}', w.id) as bound
      from ${table} w
     where w.workspace_id = $1 and w.id > ($2::text[])[1]::uuid and w.${column} is not null
     order by w.id limit $3`,
  replace: `${update} ${column} = $3 where id = ($1::text[])[1]::uuid and ${column} = $2`,
})

/** All signing secrets and headers, for the rotation of data keys: `bound` must match the bindings. */
export const SEALED_IN_WEBHOOKS: readonly SealedColumn[] = [
  ...['secret', 'previous_secret'].flatMap((column) => [
    sealedIn('webhook', column, 'update webhook set'),
    sealedIn('webhook_farewell', column, 'update webhook_farewell set'),
  ]),
  sealedIn('webhook', 'headers', 'update webhook set', bindingOfHeaders('%s')),
]
