import { normalizeLoosely } from '../core/address/email-address.ts'
import type { Key } from '../core/cell.ts'
import { digestOf, tokenKey } from './secrets.ts'

/** Forms that say whose they are only in their body: those for signing in, and texts from Twilio. */

/** What a form is about; null if it does not say so. */
export interface FormClaim {
  key: Key
  /** The form without its secret, for an installation that does not have it. */
  without?: URLSearchParams
}

type Reads = (form: URLSearchParams) => FormClaim | null

const byEmail: Reads = (form) => {
  const address = normalizeLoosely(form.get('email') ?? '')
  return address ? { key: `member:${address}` } : null
}

const replaced = (form: URLSearchParams, name: string, value: string): URLSearchParams => {
  const other = new URLSearchParams(form)
  other.set(name, value)
  return other
}

const byLink: Reads = (form) => {
  const secret = /asl_[0-9A-Za-z]+/.exec(form.get('link') ?? '')?.[0]
  return secret ? { key: tokenKey(secret), without: replaced(form, 'link', `asl_${digestOf(secret)}`) } : null
}

const byToken: Reads = (form) => {
  const secret = form.get('token')?.trim()
  return secret ? { key: tokenKey(secret), without: replaced(form, 'token', digestOf(secret)) } : null
}

const byPasskey: Reads = (form) => {
  try {
    const { id } = JSON.parse(form.get('answer') ?? '') as { id?: unknown }
    return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id) ? { key: `passkey:${id}` } : null
  } catch {
    return null // the installation says what is wrong with it
  }
}

const byNumber: Reads = (form) => {
  const number = form.get('To') ?? ''
  return /^\+\d{1,15}$/.test(number) ? { key: `number:${number}` } : null
}

const FORMS: Readonly<Record<string, Reads>> = {
  '/app/sign-in/company': byEmail,
  '/app/sign-in/email': byEmail,
  '/app/sign-in/link': byLink,
  '/app/sign-in/passkey': byPasskey,
  '/app/sign-in/token': byToken,
  '/channels/sms/messages': byNumber,
}

/** Longer than what each of them accepts. */
export const MAX_FORM_BYTES = 128 * 1024

/** Returns what reads the form of a path; undefined if the path has none. */
export const formAt = (path: string): Reads | undefined =>
  Object.hasOwn(FORMS, path) ? FORMS[path] : undefined
