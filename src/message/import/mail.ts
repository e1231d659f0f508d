/** Largest mail that is imported, the same as of one that is received. @limit Import and export */
export const MAX_MAIL_BYTES = 25 * 1024 * 1024

/** A mail to import, with the name under which a problem with it is reported. */
export interface Mail {
  name: string
  raw: Buffer
  /** When it was stored where it comes from: used if it does not say when it was sent. */
  storedAt?: Date | null | undefined
  /** Where its source continues after it, if the source has positions. */
  position?: string | undefined
}

/** A mail that cannot be imported, and why. */
export interface SkippedMail {
  name: string
  reason: string
  position?: string | undefined
}

/** What a source of mails yields. */
export type MailEntry = Mail | SkippedMail

export const isSkipped = (entry: MailEntry): entry is SkippedMail => 'reason' in entry

export const tooLarge = (name: string): SkippedMail => ({
  name,
  reason: `is larger than ${MAX_MAIL_BYTES / 1024 / 1024} MiB`,
})
