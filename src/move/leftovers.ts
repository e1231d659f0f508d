import type pg from 'pg'
import { quoted } from '../backup/tables.ts'
import type { Part } from './parts.ts'

/**
 * What leads into a workspace, or out of it, each after those that refer to it: bots, numbers, webhooks, messages to send, and
 * links. The other installation has them now. Without them this one tells no receiver that its subscription has ended, and
 * gives no number and no bot back when the workspace is deleted. Tokens, email addresses and domains stay: who uses them is
 * told to try again, until it reaches the other installation.
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
]

/** Mail that was arriving when it moved must not find nobody: that is accepted and dropped. */
const KEPT: Readonly<Record<string, string>> = { address: `channel = 'email'` }

/** Removes the doors of a workspace that has moved. May be repeated. */
export const removeDoors = async (client: pg.Client, parts: readonly Part[]): Promise<void> => {
  await client.query('begin')
  for (const door of DOORS) {
    const { name, where } = parts.find((part) => part.name === door)!
    await client.query(`delete from ${quoted(name)} where (${where}) and not (${KEPT[name] ?? false})`)
  }
  await client.query('commit')
}
