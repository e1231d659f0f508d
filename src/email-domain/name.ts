import { domainToASCII } from 'node:url'
import { getDomain, getPublicSuffix } from 'tldts'
import { invalidInput } from '../core/errors.ts'

/**
 * RFC 1035 2.3.4 allows 253 characters: this leaves room for `<selector>._domainkey.` and the like before the
 * name.
 */
const LONGEST = 200
/**
 * As an agent's address may end: labels that start with a letter or digit, the last of letters alone (so no
 * IP address fits).
 */
const FORM = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
/** Names that no public DNS has (RFC 6761, RFC 7686), and those of reverse lookups. */
const SPECIAL = new Set(['localhost', 'invalid', 'onion', 'arpa'])

const PRIVATE_TOO = { allowPrivateDomains: true }

/**
 * In lower case and ASCII (`münchen.de` → `xn--mnchen-3ya.de`), without the dot of the root; '' for what is
 * no name in any script.
 */
const inAscii = (input: string): string => {
  const name = input.replace(/\.$/, '').toLowerCase()
  // domainToASCII reads `1.2` as an IPv4 address: plain ASCII doesn't pass through it, unless it claims to be
  // another script's. And it decodes `%2e` and ends at a slash.
  if (/[^a-z0-9.\u0080-\u{10ffff}-]/u.test(name)) return ''
  return /^[\0-\x7f]*$/.test(name) && !/(?:^|\.)xn--/.test(name) ? name : domainToASCII(name)
}

/** Whether `name` is `parent` or lies below it. */
const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)

/**
 * The one spelling of a domain that a workspace can bring. Throws `invalid_input` for what is no domain name,
 * for the service's own domain and what lies below it, and for what nobody owns alone: public suffixes
 * (`com`, `co.uk`, `github.io`) and special names.
 */
export const domainName = (input: string, mailDomain: string): string => {
  const name = inAscii(input)
  if (name.length > LONGEST) throw invalidInput('name', `must be at most ${LONGEST} characters long`)
  if (!FORM.test(name))
    throw invalidInput('name', 'must be a domain name, like example.com, that ends with two or more letters')
  if (isWithin(name, mailDomain)) throw invalidInput('name', "is the service's own domain")
  if (SPECIAL.has(name.slice(name.lastIndexOf('.') + 1)))
    throw invalidInput('name', 'must be a domain of the public DNS')
  if (getPublicSuffix(name, PRIVATE_TOO) === name) throw invalidInput('name', 'must not be a public suffix')
  return name
}

/**
 * The domain that its owner registered: `mail.example.co.uk` → `example.co.uk`. Where a DMARC record counts
 * too (RFC 7489 6.6.3).
 */
export const organizationalDomain = (name: string): string => getDomain(name, PRIVATE_TOO) ?? name
