import { getDomain, getPublicSuffix } from 'tldts'
import { toHostname } from '../core/address/hostname.ts'
import { invalidInput } from '../core/errors.ts'

/** RFC 1035 2.3.4 allows 253 characters; this leaves space for prefixes such as `<selector>._domainkey.`. */
const MAX_LENGTH = 200
/**
 * Same form as the domain of an agent's address: labels that start with a letter or digit, the last one of
 * letters only (which excludes IP addresses).
 */
const FORM = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
/** Names that do not exist in the public DNS (RFC 6761, RFC 7686), and those of reverse lookups. */
const SPECIAL = new Set(['localhost', 'invalid', 'onion', 'arpa'])

const INCLUDING_PRIVATE = { allowPrivateDomains: true }

/** Returns whether `name` is `parent` or below it. */
const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)

/**
 * Normalizes a domain that a workspace can add. Throws `invalid_input` for anything that is not a domain
 * name, for the service's own domain and names below it, and for names without a single owner: public
 * suffixes (`com`, `co.uk`, `github.io`) and special names.
 */
export const domainName = (input: string, mailDomain: string): string => {
  // Without the dot of the root.
  const given = input.replace(/\.$/, '')
  const name = toHostname(given) ?? ''
  if ((name || given).length > MAX_LENGTH)
    throw invalidInput('name', `must be at most ${MAX_LENGTH} characters long`)
  if (!FORM.test(name))
    throw invalidInput('name', 'must be a domain name, like example.com, that ends with two or more letters')
  if (isWithin(name, mailDomain)) throw invalidInput('name', "is the service's own domain")
  if (SPECIAL.has(name.slice(name.lastIndexOf('.') + 1)))
    throw invalidInput('name', 'must be a domain of the public DNS')
  if (getPublicSuffix(name, INCLUDING_PRIVATE) === name)
    throw invalidInput('name', 'must not be a public suffix')
  return name
}

/** Returns the names above, up to that which its holder registered: `acme.co.uk` for `mail.acme.co.uk`. */
export const parentsOf = (name: string): string[] => {
  const registered = getDomain(name, INCLUDING_PRIVATE) ?? name
  const labels = name.split('.')
  return labels.slice(1).flatMap((_, i) => {
    const parent = labels.slice(i + 1).join('.')
    return isWithin(parent, registered) ? [parent] : []
  })
}
