import type { DnsResolver } from '../mail/index.ts'
import { type SigningKey, signingKeys } from './dkim.ts'
import type { DkimDeps, DkimOwner } from './key-pair.ts'

/**
 * Time in milliseconds for which a key is cached. A new key's record may take as long to be visible anyway.
 */
const KNOWN_MS = 60_000

const ownerOf = async ({ prisma, mailDomain }: SignerDeps, from: string): Promise<DkimOwner | null> => {
  const domain = from.slice(from.lastIndexOf('@') + 1)
  if (domain === mailDomain) return { domain, workspaceId: null }
  const address = await prisma.address.findUnique({
    where: { channel_value: { channel: 'email', value: from } },
    include: { domain: true },
  })
  if (address === null) return null
  if (address.domain)
    return address.domain.state === 'pending' ? null : { domain, workspaceId: address.workspaceId }
  // It came with a workspace from an installation whose own domain this is: the operator has made a key for it.
  return (await prisma.dkimKey.count({ where: { domain, workspaceId: null } })) > 0
    ? { domain, workspaceId: null }
    : null
}

export interface SignerDeps extends DkimDeps {
  resolver: DnsResolver
  /** The service's own domain. */
  mailDomain: string
}

/**
 * Creates a function that finds the signing keys for mail from an address: that of the service's domain, or of
 * the workspace's domain that the address is on, once that is verified. None for any other. Keys are cached
 * for a minute.
 */
export const createSigner = (deps: SignerDeps): ((from: string) => Promise<readonly SigningKey[]>) => {
  const known = new Map<string, { until: number; keys: Promise<readonly SigningKey[]> }>()
  return async (from) => {
    const owner = await ownerOf(deps, from)
    if (owner === null) return []
    const name = `${owner.workspaceId} ${owner.domain}`
    const now = deps.clock.now().getTime()
    const hit = known.get(name)
    if (hit && hit.until > now) return hit.keys
    const keys = signingKeys(deps, owner)
    known.set(name, { until: now + KNOWN_MS, keys })
    keys.catch(() => known.delete(name))
    return keys
  }
}
