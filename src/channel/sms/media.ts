import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { messageOf } from '../../core/errors.ts'
import { isPublicAddress } from '../../core/public-address.ts'
import type { Check, InboundAttachment } from '../channel.ts'
import { oneLine } from '../storable.ts'
import { readUpTo, type Twilio } from './twilio.ts'

/** Twilio takes 5 MB in an MMS; some carriers more in one file. */
const MOST_FILE_BYTES = 10 * 1024 * 1024
const MOST_FILES = 10
const MOST_REDIRECTS = 3
/** For all files together: Twilio waits 15 s for the answer to its webhook. */
const PATIENCE_MS = 8_000

export interface MediaDeps {
  twilio: Pick<Twilio, 'authorization'>
  apiUrl: string
}

/** Whether a host, as a URL spells it, leads to the public internet and nowhere else. */
const isPublic = async (hostname: string): Promise<boolean> => {
  const bare = hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(bare) ? [bare] : (await lookup(bare, { all: true })).map(({ address }) => address)
  return addresses.every(isPublicAddress)
}

/** Where files may lie: at Twilio's API, with our credentials, or where it redirects to, without them, but never inside our network. */
const mayAsk = async (apiUrl: string, url: URL, redirected: boolean): Promise<boolean> => {
  const home = new URL(apiUrl)
  if (url.origin === home.origin) return true
  if (url.protocol !== 'https:' || url.username !== '') return false
  if (!redirected) return home.hostname.endsWith('.twilio.com') && url.hostname.endsWith('.twilio.com')
  return isPublic(url.hostname)
}

const open = async ({ twilio, apiUrl }: MediaDeps, link: string, signal: AbortSignal): Promise<Response> => {
  let url = new URL(link)
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    if (!(await mayAsk(apiUrl, url, hop > 0))) throw new Error('it is not at Twilio')
    const headers: Record<string, string> = hop === 0 ? { Authorization: twilio.authorization } : {}
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || !location) return response
    await response.body?.cancel()
    url = new URL(location, url)
  }
  throw new Error('it is redirected too often')
}

const TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/
const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'audio/mpeg': 'mp3',
  'video/quicktime': 'mov',
}
const extensionOf = (type: string): string => EXTENSIONS[type] ?? /\/(?:x-)?([a-z0-9]{1,10})$/.exec(type)?.[1] ?? 'bin'

const fetchFile = async (deps: MediaDeps, form: URLSearchParams, index: number, signal: AbortSignal): Promise<InboundAttachment> => {
  const response = await open(deps, form.get(`MediaUrl${index}`) ?? '', signal)
  if (!response.ok) throw new Error(`Twilio answered ${response.status}`)
  const content = await readUpTo(response, MOST_FILE_BYTES)
  if (!content) throw new Error(`it is larger than ${MOST_FILE_BYTES} bytes`)
  const told = form.get(`MediaContentType${index}`) || response.headers.get('content-type') || ''
  const [type = ''] = told.toLowerCase().split(';')
  const known = TYPE.test(type.trim()) ? type.trim() : 'application/octet-stream'
  return { name: `media-${index + 1}.${extensionOf(known)}`, type: known, content }
}

/**
 * The files of an MMS. What can't be had is left out, and said so in the checks: the text that came with it is worth more than another
 * try would be.
 */
export const fetchMedia = async (
  deps: MediaDeps,
  form: URLSearchParams,
): Promise<{ attachments: InboundAttachment[]; checks: Check[] }> => {
  const told = Number(form.get('NumMedia') ?? 0)
  const count = Number.isInteger(told) && told > 0 ? Math.min(told, MOST_FILES) : 0
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const files = await Promise.allSettled(Array.from({ length: count }, (_, index) => fetchFile(deps, form, index, signal)))
  const checks = files.flatMap((file, index): Check[] => {
    if (file.status === 'fulfilled') return []
    return [{ name: 'media', verdict: 'missing', detail: oneLine(`file ${index + 1} of ${told}: ${messageOf(file.reason)}`, 300) }]
  })
  return { attachments: files.filter((file) => file.status === 'fulfilled').map(({ value }) => value), checks }
}
