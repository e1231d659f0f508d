import type pg from 'pg'
import { quoted } from '../backup/tables.ts'
import type { Part } from './parts.ts'

/**
 * What leads into a workspace, or out of it, each after those that refer to it: addresses with their bots, numbers, domains, webhooks,
 * messages to send, and links. The other installation has them now. Without them this one finds no recipient, tells no receiver that
 * its subscription has ended, and gives no number and no bot back when the workspace is deleted. Tokens stay: they are
 * told to try again, until whoever has them reaches the other installation.
 */
const DOORS = [
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
  'domain',
]

/** Removes the doors of a workspace that has moved. May be repeated. */
export const removeDoors = async (client: pg.Client, parts: readonly Part[]): Promise<void> => {
  await client.query('begin')
  for (const door of DOORS) {
    const { name, where } = parts.find((part) => part.name === door)!
    await client.query(`delete from ${quoted(name)} where ${where}`)
  }
  await client.query('commit')
}
