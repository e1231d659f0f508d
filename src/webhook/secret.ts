import type { KeyObject } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Keyring } from '../workspace/keyring.ts'
import { keyOf } from './sign.ts'

/** A signing secret at rest is bound to its webhook. */
const bindingOf = (webhookId: string): string => `webhook:${webhookId}`

export const sealSecret = (keyring: Keyring, workspaceId: string, webhookId: string, secret: string): Promise<Buffer> =>
  keyring.seal(workspaceId, secret, bindingOf(webhookId))

export const openSecret = async (keyring: Keyring, workspaceId: string, webhookId: string, sealed: Uint8Array): Promise<string> =>
  (await keyring.open(workspaceId, sealed, bindingOf(webhookId))).toString()

interface SealedKeys {
  id: string
  workspace_id: string
  secret: Uint8Array
  previous_secret: Uint8Array | null
  previous_until: Date | null
}

/** The keys that a webhook's deliveries are signed with: the secret's, and the previous one's while that is valid. Null when they don't open. */
export const openKeys = async (
  { keyring, clock, log }: { keyring: Keyring; clock: Clock; log: Logger },
  row: SealedKeys,
): Promise<readonly KeyObject[] | null> => {
  const previous = row.previous_until && row.previous_until > clock.now() ? row.previous_secret : null
  try {
    const secrets = [row.secret, ...(previous ? [previous] : [])]
    return await Promise.all(secrets.map(async (sealed) => keyOf(await openSecret(keyring, row.workspace_id, row.id, sealed))))
  } catch (error) {
    log.error({ webhookId: row.id, error: messageOf(error) }, 'the signing secret of a webhook does not open')
    return null
  }
}
