import { z } from '@hono/zod-openapi'
import { IDENTITY_CHANNELS } from '../../core/channels.ts'

/** Schemas of phone numbers and identities in responses. */

const ID = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
const VALUE = '+15005550101'

export const PhoneNumberView = z
  .object({
    id: z.string().openapi({ format: 'uuid' }),
    value: z.string().openapi({ description: 'E.164' }),
    addressId: z.string().nullable().openapi({
      format: 'uuid',
      description: "The id of the agent's address that uses it; null while it is not assigned to an agent",
    }),
    createdAt: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('PhoneNumber', {
    example: { id: ID, value: VALUE, addressId: null, createdAt: '2026-11-20T09:30:00.000Z' },
  })

export const NumberOfferView = z
  .object({
    value: z.string().openapi({ description: 'E.164' }),
    locality: z.string().nullable().openapi({ description: 'The city or region of the number' }),
    price: z
      .object({ amount: z.string(), currency: z.string() })
      .nullable()
      .openapi({ description: 'The price per month; null if the provider does not state it' }),
  })
  .openapi('PhoneNumberOffer', {
    example: { value: VALUE, locality: 'Springfield', price: { amount: '1.15', currency: 'USD' } },
  })

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
