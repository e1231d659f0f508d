import type pg from 'pg'
import { quoted } from '../backup/tables.ts'
import type { Part } from './parts.ts'

/**
 * What leads into a workspace, or out of it, each after those that refer to it: bots, numbers, webhooks, messages to send, and
 * links. The other installation has them now. Without them this one tells no receiver that its subscription has ended, and
 * gives no number and no bot back when the workspace is deleted. Tokens, email addresses and domains stay: who uses them is
 * told to try again, until it reaches the other installation. Mail that was arriving when it moved must not find nobody: that
 * is accepted and dropped.
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
export const removeEndpoints = async (client: pg.Client, parts: readonly Part[]): Promise<void> => {
  await client.query('begin')
  for (const table of ENDPOINTS) {
    const { name, where } = parts.find((part) => part.name === table)!
    const kept = name === 'address' ? ` and channel <> 'email'` : ''
    await client.query(`delete from ${quoted(name)} where (${where})${kept}`)
  }
  await client.query('commit')
}
