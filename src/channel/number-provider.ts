/** A phone number that can be bought. */
export interface NumberOffer {
  /** E.164. */
  value: string
  /** Town or region that it belongs to, or null. */
  locality: string | null
  /** Monthly price; null when the provider does not state it. */
  price: { amount: string; currency: string } | null
}

/**
 * A provider of phone numbers. All calls throw `unavailable` when it does not respond, and `conflict` with
 * its reason when it refuses.
 */
export interface NumberProvider {
  /**
   * Returns numbers that can receive texts, in a country (two letters, ISO 3166) and in an area code (digits)
   * if given.
   */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]>
  /** Buys a number and connects it. Returns the provider's id of it. */
  buy(value: string): Promise<string>
  /** Returns the provider's id of a number that the account has; null if it does not have it. */
  find(value: string): Promise<string | null>
  /** Returns the URL at which incoming texts are delivered. It changes with PUBLIC_URL. */
  webhookUrl(): string
  /** Makes the provider deliver a number's incoming texts to that URL. */
  connect(providerId: string): Promise<void>
  /** Stops renting the number. Idempotent. */
  release(providerId: string): Promise<void>
}
