import type { Zone } from './dns.ts'
import type { Answer, Tenant } from './service.ts'

/** A DNS record of a domain, as the API lists it. */
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
 * Publishes the records that the service requires, as the domain's owner would, or only those for `purposes`.
 * Existing records stay.
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

/** Removes all records for a purpose from DNS. */
export const withdraw = (zone: Zone, { records }: ListedDomain, purpose: string): void => {
  for (const record of records.filter((one) => one.purpose === purpose))
    delete zone[record.name]?.[record.type]
}

export const verify = ({ api }: Tenant, { id }: Pick<ListedDomain, 'id'>): Promise<Answer<ListedDomain>> =>
  api('POST', `/domains/${id}/verify`)

/** Creates a domain of the tenant, publishes all of its records and verifies it. */
export const ownDomain = async (tenant: Tenant, zone: Zone, name: string): Promise<ListedDomain> => {
  const { body } = await tenant.api<ListedDomain>('POST', '/domains', { name })
  publish(zone, body)
  return (await verify(tenant, body)).body
}
