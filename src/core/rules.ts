import { z } from 'zod'
import { UUID } from './uuid.ts'

/**
 * Input rules, shared by all interfaces. Lengths count code points, close to what a person counts; what
 * PostgreSQL cannot store or JSON cannot represent (NUL, lone surrogates) is refused here, with the name of
 * the rule.
 */

const words = z.registry<{ words: string }>()

/** Notes the bounds of a rule in words, for interfaces whose schemas cannot express them: `1 to 100 characters`. */
export const bounded = <Rule extends z.ZodType>(rule: Rule, bounds: string): Rule => {
  words.add(rule, { words: bounds })
  return rule
}

export const boundsOf = (rule: z.ZodType): string | undefined => words.get(rule)?.words

/** Returns approximately the number of characters that a person counts: an emoji is one, not two. */
export const codePoints = (value: string): number => {
  let count = 0
  for (const _ of value) count++
  return count
}

/** Returns the rule for a text of `min` to `max` characters. */
export const text = (min: number, max: number, base = z.string()) => {
  const bounds = min > 0 ? `${min} to ${max} characters` : `at most ${max} characters`
  const rule = base
    .refine((value) => !value.includes('\0'), 'must not contain NUL characters')
    .refine((value) => value.isWellFormed(), 'must not contain an unpaired surrogate')
    .refine((value) => value.length >= min && (value.length <= max || codePoints(value) <= max), {
      error: `must be ${bounds} long`,
    })
    .meta({ minLength: min, maxLength: max })
  return bounded(rule, bounds)
}

/** Line breaks, control characters, and what changes the direction of the text after it. */
const NOT_IN_NAMES = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Returns the rule for a name that people read, on one line with other words: not blank. */
const name = (max: number) =>
  bounded(
    text(1, max)
      .refine((value) => value.trim() !== '', 'must not be blank')
      .refine((value) => !NOT_IN_NAMES.test(value), 'must not contain line breaks or control characters')
      .meta({ minLength: 1, maxLength: max }),
    `1 to ${max} characters, not blank`,
  )

/** A UUID, converted to lowercase. */
export const uuid = z
  .string()
  .regex(UUID, 'must be a UUID')
  .transform((value) => value.toLowerCase())
  .meta({ format: 'uuid' })

export const TIMESTAMP_RULE = 'must be an ISO 8601 timestamp with its time zone, such as 2026-01-31T09:30:00Z'
/** An ISO 8601 timestamp with its offset, converted to a Date. Others cannot be stored and written again. */
export const timestamp = z.iso
  .datetime({ offset: true, error: TIMESTAMP_RULE })
  .transform((value) => new Date(value))
  .refine((date) => !Number.isNaN(date.getTime()), TIMESTAMP_RULE)
  .refine(
    (date) => date.getUTCFullYear() > 0 && date.getUTCFullYear() < 10_000,
    'must be in the years 1 to 9999 in UTC',
  )
  .meta({ format: 'date-time' })

export const agentName = name(100)
export const tokenName = name(100)
export const memberName = name(100)
export const workspaceName = name(100)
export const signature = text(0, 2_000)
export const templateName = name(60)
export const templateText = text(1, 10_000)
export const viewName = name(60)
/** Where a search of the web application is. */
export const viewPath = text(1, 500).refine(
  (path) => /^\/inbox(?:[/?#]|$)/.test(path),
  'must begin with /inbox',
)
const wakes = 'must be a whole number from 1 to 10000'
/** Maximum number of messages that wake an agent in some time. */
export const wakeLimit = bounded(z.int(wakes).min(1, wakes).max(10_000, wakes), '1 to 10000')
const seconds = 'must be a whole number from 0 to 300'
/** Time in seconds for which new messages wait for others of their thread, at most. @limit Receiving */
export const MAX_WAKE_AFTER_S = 300
/** Time for which an agent's new messages wait for others of their threads. */
export const wakeAfterSeconds = bounded(
  z.int(seconds).min(0, seconds).max(MAX_WAKE_AFTER_S, seconds),
  '0 to 300',
)
const days = 'must be a whole number from 1 to 365'
/** Number of days for which refused messages are stored. */
export const keepRefusedDays = z.int(days).min(1, days).max(365, days)
const keptDays = 'must be a whole number from 1 to 36500'
/** Number of days for which messages, and emails as received, are stored. */
export const keepDays = z.int(keptDays).min(1, keptDays).max(36_500, keptDays)
export const clientName = name(200)
export const messageText = text(1, 32_000)
/** HTML of an email; Gmail shows the first 102 KB. */
export const messageHtml = text(1, 256_000)
export const urlText = text(1, 2_000)
export const searchText = text(1, 500)
export const searchedSubject = text(1, 240)
/** Maximum number of labels of a message. @limit Messages */
export const MAX_LABELS = 20
/** Label of a message, trimmed and in Unicode's composed form (NFC), so that equal labels are equal bytes. */
export const label = text(1, 64, z.string().trim().normalize('NFC')).refine(
  (value) => !NOT_IN_NAMES.test(value),
  'must not contain line breaks or control characters',
)
export const labels = z.array(label).max(MAX_LABELS, `must contain at most ${MAX_LABELS} labels`)
/** Maximum number of keys in the metadata of a message or an agent. @limit Messages */
export const MAX_METADATA_KEYS = 16
const MAX_KEY = 40
const METADATA_KEYS = `must have at most ${MAX_METADATA_KEYS} keys of 1 to ${MAX_KEY} characters`
const isMetadataKey = (key: string): boolean =>
  text(1, MAX_KEY).safeParse(key).success && !NOT_IN_NAMES.test(key)

/** Values by their keys. */
const byKey = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string(), value)
    .refine((given) => Object.keys(given).length <= MAX_METADATA_KEYS, METADATA_KEYS)
    .refine((given) => Object.keys(given).every(isMetadataKey), METADATA_KEYS)
const metadataValue = text(0, 500)
/** What programs keep with a message or an agent. */
export const metadata = byKey(metadataValue)
export type Metadata = Readonly<z.output<typeof metadata>>
/** Changes of metadata: null removes a key, and keys that are left out keep their values. */
export const metadataChanges = byKey(metadataValue.nullable())
export type MetadataChanges = Readonly<z.output<typeof metadataChanges>>
/** The agent's own key of a conversation. */
export const conversationKey = text(1, 100, z.string().trim()).refine(
  (value) => !NOT_IN_NAMES.test(value),
  'must not contain line breaks or control characters',
)
/** Messages that one request changes. */
export const messageIds = z
  .array(uuid)
  .min(1, 'must contain 1 to 100 ids')
  .max(100, 'must contain 1 to 100 ids')
/** A member's note on a thread. */
export const noteText = text(1, 10_000)
/** What an agent asks members, an answer to choose from, and an answer. */
export const questionText = text(1, 2_000)
export const questionOption = name(60)
export const answerText = text(1, 2_000)
export const rejectionReason = text(0, 500)
export const messageSubject = text(0, 240)
export const recipient = text(1, 320)
export const recipients = z
  .array(recipient)
  .min(1, 'must contain 1 to 10 recipients')
  .max(10, 'must contain 1 to 10 recipients')
export const verificationCode = z
  .string()
  .regex(/^\d{6}$/, 'must be 6 digits')
  .meta({ minLength: 6, maxLength: 6 })
/** ISO 3166-1 alpha-2, converted to uppercase. */
export const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code such as US')
  .transform((value) => value.toUpperCase())
export const areaCode = z.string().regex(/^\d{1,6}$/, 'must be 1 to 6 digits')
export const copies = z.array(recipient).max(50, 'must contain at most 50 recipients')
/** All files of one message together, decoded. @limit Messages */
const MAX_ATTACHED_BYTES = 10 * 1024 * 1024
/**
 * Maximum size of the body of a request that sends a message: those files in base64 (4 characters for 3
 * bytes), text and names, with a margin for escapes.
 * @limit Requests
 */
export const MAX_SEND_BODY_BYTES = 16 * 1024 * 1024
const MAX_BASE64 = Math.ceil(MAX_ATTACHED_BYTES / 3) * 4
/** Maximum number of files of one message. @limit Messages */
export const MAX_ATTACHMENTS = 100

/** Without a flag and a lookahead: a pattern in the API's description cannot have them in every language. */
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}$/

const MEDIA_TYPE_RULE = 'must be a media type such as application/pdf, without parameters, and not multipart'

export const mediaType = z
  .string()
  .regex(MEDIA_TYPE, MEDIA_TYPE_RULE)
  .refine((value) => !/^multipart\//i.test(value), MEDIA_TYPE_RULE)
  .meta({ maxLength: 255 })

/**
 * Base64: the standard alphabet, padded, without line breaks. Encoding the bytes again must give the same
 * text.
 */
export const fileContent = z
  .string()
  .max(MAX_BASE64, `must be at most ${MAX_ATTACHED_BYTES} bytes`)
  .transform((value, context) => {
    const bytes = Buffer.from(value, 'base64')
    if (bytes.toString('base64') === value) return bytes
    context.addIssue({ code: 'custom', message: 'must be base64, padded and without line breaks' })
    return z.NEVER
  })
  .meta({ maxLength: MAX_BASE64, contentEncoding: 'base64' })

export const fileName = name(255)

/** Whether files are small enough together for one message. */
export const fitsOneMessage = (files: readonly { content: Uint8Array }[]): boolean =>
  files.reduce((sum, { content }) => sum + content.byteLength, 0) <= MAX_ATTACHED_BYTES
export const TOO_LARGE_TOGETHER = `must be at most ${MAX_ATTACHED_BYTES} bytes in total, decoded`

/** Returns the rule for the files of a message. */
export const filesOfMessage = <File extends z.ZodType<{ content: Buffer }>>(file: File) =>
  z
    .array(file)
    .max(MAX_ATTACHMENTS, `must be at most ${MAX_ATTACHMENTS} files`)
    .refine(fitsOneMessage, { error: TOO_LARGE_TOGETHER })
export const sender = text(1, 320)
export const senders = z.array(sender).max(1000, 'must contain at most 1000 senders')
const SECRET_NAME = '1 to 128 letters, digits, _, . or -'
export const secretName = bounded(
  z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, `must be ${SECRET_NAME}`),
  SECRET_NAME,
)
/** At most 64 KiB of UTF-8, which is fewer characters: the operation checks the bytes. */
export const secretValue = bounded(text(0, 65_536), '')
export const webhookUrl = text(1, 2048)
export const webhookName = name(100)
export const domainName = text(1, 1000)
/** The issuer of an OpenID provider, as its tokens name it (OpenID Connect Discovery 1.0, 3). */
export const issuerUrl = text(1, 500).refine(
  (url) => /^https?:\/\/[^/?#@\\\s]+(?:\/[^?#\\\s]*)?$/.test(url) && URL.canParse(url),
  'must be an https URL without a query',
)
export const clientId = text(1, 255)
export const clientSecret = text(1, 1_000)
/** Domains whose addresses a company's provider may sign in. @limit Members */
const MAX_COMPANY_DOMAINS = 20
export const companyDomains = bounded(
  z
    .array(domainName)
    .min(1, 'must name at least one domain')
    .max(MAX_COMPANY_DOMAINS, `must name at most ${MAX_COMPANY_DOMAINS} domains`),
  `1 to ${MAX_COMPANY_DOMAINS}`,
)

/** Returns the name of a field in errors: `a[0].b` for `[a, 0, b]`. */
export const fieldName = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (name, part) =>
      typeof part === 'number' ? `${name}[${part}]` : name === '' ? String(part) : `${name}.${String(part)}`,
    '',
  )
