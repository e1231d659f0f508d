import type pg from 'pg'
import { quoted } from '../backup/tables.ts'
import type { WorkspaceTable } from './workspace-tables.ts'

/**
 * What leads into a workspace or out of it: bots, numbers, webhooks, messages to send, and links; each after those that refer to it.
 * The other installation has them now. If they stayed, deleting the workspace here would end their subscriptions at receivers, and
 * release their numbers and bots at the providers. Tokens, email addresses and domains stay, so that clients and mail servers are
 * asked to try again until they reach the other installation: mail for an address that no longer exists would be accepted and dropped
 * if it was arriving while the workspace moved.
 */
const ENDPOINTS = [
  'job',
  'delayed_event',
  'webhook_farewell',
  'webhook',
  'company_sign_in',
  'sign_in_link',
  'setup_link',
  'identity_link',
  'identity_claim',
  'invitation',
  'telegram_bot',
  'album_part',
  'phone_number',
  'address',
]

/** Removes the endpoints of a workspace that has moved. May be repeated. */
export const removeEndpoints = async (
  client: pg.Client,
  tables: readonly WorkspaceTable[],
): Promise<void> => {
  await client.query('begin')
  for (const endpoint of ENDPOINTS) {
    const { name, where } = tables.find((table) => table.name === endpoint)!
    const kept = name === 'address' ? ` and channel <> 'email'` : ''
    await client.query(`delete from ${quoted(name)} where (${where})${kept}`)
  }
  await client.query('commit')
}
