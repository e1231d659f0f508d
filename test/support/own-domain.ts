import type { Zone } from './dns.ts'
import type { Answer, Tenant } from './service.ts'

/** A record of a domain, as the service lists it. */
export interface ListedRecord {
  purpose: string
  type: 'MX' | 'TXT'
  name: string
  value: string
  priority: number | null
  required: boolean
  found: string[]
  ok: boolean
  problem: string | null
}

export interface ListedDomain {
  id: string
  name: string
  state: 'pending' | 'verified' | 'broken'
  checkedAt: string | null
  records: ListedRecord[]
}

/**
 * Publishes what the service asks for, as the domain's owner would; `purposes` alone when given. What is
 * there already stays.
 */
export const publish = (zone: Zone, { records }: ListedDomain, purposes?: string[]): void => {
  for (const { purpose, type, name, value, priority } of records) {
    if (purposes && !purposes.includes(purpose)) continue
    const there = zone[name] ?? {}
    zone[name] = there
    if (type === 'MX') there.MX = [...(there.MX ?? []), { priority: priority!, exchange: value }]
    else there.TXT = [...(there.TXT ?? []), value]
  }
}

/** Takes all records for a purpose out of DNS. */
export const withdraw = (zone: Zone, { records }: ListedDomain, purpose: string): void => {
  for (const record of records.filter((one) => one.purpose === purpose))
    delete zone[record.name]?.[record.type]
}

export const verify = ({ api }: Tenant, { id }: Pick<ListedDomain, 'id'>): Promise<Answer<ListedDomain>> =>
  api('POST', `/domains/${id}/verify`)

/** A domain of the tenant's with all of its records published and verified. */
export const ownDomain = async (tenant: Tenant, zone: Zone, name: string): Promise<ListedDomain> => {
  const { body } = await tenant.api<ListedDomain>('POST', '/domains', { name })
  publish(zone, body)
  return (await verify(tenant, body)).body
}
