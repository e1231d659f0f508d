import { AppError } from '../../core/errors.ts'
import type { NumberOffer, NumberProvider } from '../number-provider.ts'
import { type Twilio, type TwilioAnswer, text } from './twilio.ts'

export interface NumberDeps {
  twilio: Twilio
  /** Returns the URL at which Twilio delivers incoming texts. */
  webhookUrl(): string
}

const MAX_OFFERS = 20
/** The kinds of numbers that people text with; not every country has all of them. */
const KINDS = { Local: 'local', Mobile: 'mobile' } as const
type Kind = keyof typeof KINDS

const unavailable = (cause: string) =>
  new AppError('unavailable', 'The phone number provider does not respond; try again later.', { cause })

/**
 * Returns the error for the caller: Twilio's reason for a refusal; for anything else, only that the provider
 * is unavailable.
 */
const failed = ({ temporary, reason }: Extract<TwilioAnswer, { ok: false }>): AppError =>
  temporary ? unavailable(reason) : new AppError('conflict', reason)

const rows = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value)
    ? value.filter((row): row is Record<string, unknown> => typeof row === 'object' && row !== null)
    : []

const offersOf = (body: Record<string, unknown>, kind: Kind, prices: Prices): NumberOffer[] =>
  rows(body.available_phone_numbers)
    .map((row) => ({
      value: text(row.phone_number),
      locality: text(row.locality) || text(row.region) || null,
      price: prices[KINDS[kind]] ?? null,
    }))
    .filter(({ value }) => /^\+\d{3,15}$/.test(value))

type Prices = Record<string, { amount: string; currency: string }>

/** Returns monthly prices by kind of number, or none if they cannot be fetched. */
const pricesOf = async (twilio: Twilio, country: string): Promise<Prices> => {
  const answer = await twilio.sibling('pricing', `v1/PhoneNumbers/Countries/${country}`)
  if (!answer.ok) return {}
  const currency = text(answer.body.price_unit).toUpperCase()
  return Object.fromEntries(
    rows(answer.body.phone_number_prices)
      .map(
        (row) =>
          [
            text(row.number_type),
            { amount: text(row.current_price) || text(row.base_price), currency },
          ] as const,
      )
      .filter(([, { amount }]) => /^\d{1,6}(\.\d{1,4})?$/.test(amount)),
  )
}

/** Maximum size of a page at Twilio. */
const MAX_LISTED = 1000

/** Returns the account's numbers with the URL that each one's texts are sent to, or why there is none. */
export const listNumbers = async (
  twilio: Twilio,
): Promise<{ numbers: Map<string, string> } | { reason: string }> => {
  const answer = await twilio.call('GET', 'IncomingPhoneNumbers.json', { PageSize: String(MAX_LISTED) })
  if (!answer.ok) return { reason: answer.reason }
  const listed = rows(answer.body.incoming_phone_numbers)
  return { numbers: new Map(listed.map((row) => [text(row.phone_number), text(row.sms_url)])) }
}

/** Creates the provider of phone numbers that are rented from Twilio. */
export const createNumbers = ({ twilio, webhookUrl }: NumberDeps): NumberProvider => {
  const find = async (value: string): Promise<string | null> => {
    const answer = await twilio.call('GET', 'IncomingPhoneNumbers.json', { PhoneNumber: value })
    if (!answer.ok) throw failed(answer)
    const found = rows(answer.body.incoming_phone_numbers).find((row) => row.phone_number === value)
    return (found && text(found.sid)) || null
  }
  return {
    search: async (country, areaCode) => {
      const filter = {
        SmsEnabled: 'true',
        PageSize: String(MAX_OFFERS),
        ...(areaCode === null ? {} : { AreaCode: areaCode }),
      }
      const [prices, ...answers] = await Promise.all([
        pricesOf(twilio, country),
        ...(Object.keys(KINDS) as Kind[]).map(async (kind) => ({
          kind,
          answer: await twilio.call('GET', `AvailablePhoneNumbers/${country}/${kind}.json`, filter),
        })),
      ])
      // A country without one of the kinds returns 404, which is not a failure.
      const refused = answers.map(({ answer }) => answer).find((answer) => !answer.ok && !answer.missing)
      if (refused && !refused.ok) throw failed(refused)
      return answers
        .flatMap(({ kind, answer }) => (answer.ok ? offersOf(answer.body, kind, prices) : []))
        .slice(0, MAX_OFFERS)
    },
    find,
    buy: async (value) => {
      const answer = await twilio.call('POST', 'IncomingPhoneNumbers.json', {
        PhoneNumber: value,
        SmsUrl: webhookUrl(),
        SmsMethod: 'POST',
      })
      if (!answer.ok) throw failed(answer)
      const sid = text(answer.body.sid)
      if (sid === '') throw unavailable('the response has no number id')
      return sid
    },
    webhookUrl,
    connect: async (providerId) => {
      const answer = await twilio.call('POST', `IncomingPhoneNumbers/${providerId}.json`, {
        SmsUrl: webhookUrl(),
        SmsMethod: 'POST',
      })
      if (!answer.ok) throw failed(answer)
    },
    release: async (providerId) => {
      const answer = await twilio.call('DELETE', `IncomingPhoneNumbers/${providerId}.json`)
      // Already released, which is the desired state.
      if (!answer.ok && !answer.missing) throw failed(answer)
    },
  }
}
