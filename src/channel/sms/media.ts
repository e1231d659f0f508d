import type { PublicFetch } from '../../core/address/public-fetch.ts'
import type { Check, InboundAttachment } from '../../core/channel/inbound.ts'
import { messageOf } from '../../core/errors.ts'
import { readUpTo } from '../../core/http/body.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { Twilio } from './twilio.ts'

/** File of a received MMS. Twilio accepts 5 MB; some carriers accept larger files. @limit SMS and Telegram */
const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_FILES = 10
const MAX_REDIRECTS = 3
/** Time in milliseconds for all files together: Twilio waits 15 s for the response to its webhook. */
const TIMEOUT_MS = 8_000

export interface MediaDeps {
  twilio: Pick<Twilio, 'authorization'>
  apiUrl: string
  publicFetch: PublicFetch
}

/** The part of a response that is used, from Node's own fetch or undici's. */
type Answer = Pick<Response, 'ok' | 'status'> & {
  headers: { get(name: string): string | null }
  body: FileBody | null
}
type FileBody = AsyncIterable<Uint8Array> & { cancel(): Promise<void> }

/**
 * Requests a file: from Twilio's API with our credentials, or from where it redirects without them, but never
 * from inside our network.
 */
const ask = async (
  { twilio, apiUrl, publicFetch }: MediaDeps,
  url: URL,
  redirected: boolean,
  signal: AbortSignal,
): Promise<Answer> => {
  const home = new URL(apiUrl)
  const atHome = url.origin === home.origin
  if (!atHome && (url.protocol !== 'https:' || url.username !== '')) throw notAtTwilio()
  if (redirected && !atHome) return (await publicFetch(url, signal)) as Answer
  if (!atHome && !(home.hostname.endsWith('.twilio.com') && url.hostname.endsWith('.twilio.com')))
    throw notAtTwilio()
  const headers: Record<string, string> = redirected ? {} : { Authorization: twilio.authorization }
  return (await fetch(url, { headers, redirect: 'manual', signal })) as Answer
}

const notAtTwilio = () => new Error('its URL is not at Twilio')

const open = async (deps: MediaDeps, link: string, signal: AbortSignal): Promise<Answer> => {
  let url = new URL(link)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await ask(deps, url, hop > 0, signal)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || !location) return response
    await response.body?.cancel()
    url = new URL(location, url)
  }
  throw new Error('too many redirects')
}

const TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/
const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'audio/mpeg': 'mp3',
  'video/quicktime': 'mov',
}
const extensionOf = (type: string): string =>
  EXTENSIONS[type] ?? /\/(?:x-)?([a-z0-9]{1,10})$/.exec(type)?.[1] ?? 'bin'

const fetchFile = async (
  deps: MediaDeps,
  form: URLSearchParams,
  index: number,
  signal: AbortSignal,
): Promise<InboundAttachment> => {
  const response = await open(deps, form.get(`MediaUrl${index}`) ?? '', signal)
  if (!response.ok) throw new Error(`Twilio responded with HTTP ${response.status}`)
  const content = await readUpTo(response.body as AsyncIterable<Uint8Array> | null, MAX_FILE_BYTES)
  if (!content) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`)
  const declared = form.get(`MediaContentType${index}`) || response.headers.get('content-type') || ''
  const [type = ''] = declared.toLowerCase().split(';')
  const known = TYPE.test(type.trim()) ? type.trim() : 'application/octet-stream'
  return { name: `media-${index + 1}.${extensionOf(known)}`, type: known, content }
}

/**
 * Fetches the files of an MMS. A file that cannot be fetched is left out and recorded in the checks: storing
 * the text now is worth more than a retry.
 */
export const fetchMedia = async (
  deps: MediaDeps,
  form: URLSearchParams,
): Promise<{ attachments: InboundAttachment[]; checks: Check[] }> => {
  const declared = Number(form.get('NumMedia') ?? 0)
  const count = Number.isInteger(declared) && declared > 0 ? Math.min(declared, MAX_FILES) : 0
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const files = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => fetchFile(deps, form, index, signal)),
  )
  const checks = files.flatMap((file, index): Check[] => {
    if (file.status === 'fulfilled') return []
    return [
      {
        name: 'media',
        verdict: 'missing',
        detail: oneLine(`file ${index + 1} of ${declared}: ${messageOf(file.reason)}`, 300),
      },
    ]
  })
  return {
    attachments: files.filter((file) => file.status === 'fulfilled').map(({ value }) => value),
    checks,
  }
}
