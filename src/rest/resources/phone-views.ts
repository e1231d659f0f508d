import { z } from '@hono/zod-openapi'
import { IDENTITY_CHANNELS } from '../../core/channels.ts'

/** Schemas of identities in responses. */

const CHANNEL = z.enum(IDENTITY_CHANNELS)
const TIME = '2026-11-20T09:30:00.000Z'

export const IdentityView = z
  .object({
    channel: CHANNEL,
    value: z.string().openapi({ description: 'A phone number (E.164) or a Telegram user id' }),
    verifiedAt: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('Identity', { example: { channel: 'sms', value: '+15551234567', verifiedAt: TIME } })

export const TelegramLinkView = z
  .object({
    url: z.url().openapi({ description: 'Opens the bot in Telegram' }),
    expiresAt: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('TelegramLink', {
    example: { url: 'https://t.me/support_bot?start=apt_EXAMPLE', expiresAt: TIME },
  })

export const ClaimView = z
  .object({ channel: CHANNEL, value: z.string(), expiresAt: z.string().openapi({ format: 'date-time' }) })
  .openapi('IdentityClaim', { example: { channel: 'sms', value: '+15551234567', expiresAt: TIME } })
