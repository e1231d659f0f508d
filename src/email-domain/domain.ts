import { randomBytes } from 'node:crypto'
import { AppError, invalidInput, notFound } from '../core/errors.ts'
import type { Domain } from '../db/generated/prisma/client.ts'
import type { OutsideTransaction } from '../db/transaction.ts'
import type { DnsResolver } from '../mail/index.ts'
import { audit, checkRoom, ensureMember, ensureRoom, type Viewer } from '../workspace/index.ts'
import type { Finding } from './check.ts'
import { dkimKeysOfAll, type PublishedKey } from './dkim.ts'
import { type DkimDeps, newKey } from './key-pair.ts'
import { domainName } from './name.ts'
import { type MailPlace, type WantedRecord, wantedRecords } from './record.ts'

export type { Domain }

export interface DomainDeps extends DkimDeps, MailPlace {
  /** Resolver without a cache, so that a record that was just published is found. */
  freshResolver: DnsResolver
}

/** A record with the result of the last check; `ok` is false before the first one. */
export type DomainRecord = WantedRecord & Omit<Finding, 'certain'>

/** Stored result of a check, by the record's purpose and name. */
export type StoredFinding = Pick<WantedRecord, 'purpose' | 'name'> & Omit<Finding, 'certain'>

const NOT_CHECKED = { found: [], ok: false, problem: null }

type RecordedDomain = Pick<Domain, 'name' | 'workspaceId' | 'ownershipToken' | 'findings'>

const recordsWith = (
  deps: DomainDeps,
  domain: RecordedDomain,
  keys: readonly PublishedKey[],
): DomainRecord[] => {
  const findings = domain.findings as unknown as StoredFinding[]
  return wantedRecords(domain, keys, deps).map((record) => {
    const stored = findings.find(({ purpose, name }) => purpose === record.purpose && name === record.name)
    return {
      ...record,
      ...(stored ? { found: stored.found, ok: stored.ok, problem: stored.problem } : NOT_CHECKED),
    }
  })
}

/**
 * Returns the records that each domain should have, with the result of the last check, in the order of the
 * domains.
 */
export const recordsOfAll = async (
  deps: DomainDeps,
  domains: readonly RecordedDomain[],
): Promise<DomainRecord[][]> => {
  const keys = await dkimKeysOfAll(
    deps,
    domains.map(({ name, workspaceId }) => ({ domain: name, workspaceId })),
  )
  return domains.map((domain, n) => recordsWith(deps, domain, keys[n]!))
}

/** Returns the records of one domain. */
export const recordsOf = async (deps: DomainDeps, domain: RecordedDomain): Promise<DomainRecord[]> =>
  (await recordsOfAll(deps, [domain]))[0]!

/**
 * Finds the workspace's domain with this id. For members. Throws `not_found` for another workspace's domain
 * too.
 */
export const findDomain = async (
  { prisma }: Pick<DomainDeps, 'prisma'>,
  viewer: Viewer,
  domainId: string,
): Promise<Domain> => {
  ensureMember(viewer)
  const domain = await prisma.domain.findFirst({ where: { id: domainId, workspaceId: viewer.workspaceId } })
  if (!domain) throw notFound('domain')
  return domain
}

/** Returns the domains that the workspace added, by name. For members. */
export const listDomains = async (
  { prisma }: Pick<DomainDeps, 'prisma'>,
  viewer: Viewer,
): Promise<Domain[]> => {
  ensureMember(viewer)
  return prisma.domain.findMany({ where: { workspaceId: viewer.workspaceId }, orderBy: { name: 'asc' } })
}

/**
 * Adds a domain, to be verified. For members. Idempotent. Another workspace may add it too; the one that
 * proves ownership gets it. Throws `invalid_input` for a name that cannot be added, `plan_limit` beyond the
 * number that the plan includes.
 */
export const addDomain = async (
  deps: DomainDeps & { outsideTransaction: OutsideTransaction },
  viewer: Viewer,
  input: { name: string },
): Promise<{ domain: Domain; created: boolean }> => {
  ensureMember(viewer)
  const name = domainName(input.name, deps.mailDomain)
  const { workspaceId } = viewer
  const there = await deps.prisma.domain.findUnique({ where: { workspaceId_name: { workspaceId, name } } })
  if (there) return { domain: there, created: false }
  await checkRoom(deps.prisma, workspaceId, 'ownDomains')
  // Keys are generated one after the other, and the wait must not hold a connection.
  const key = await deps.outsideTransaction(() => newKey(deps, { domain: name, workspaceId }))
  const now = deps.clock.now()
  return deps.prisma.$transaction(async (prisma) => {
    // A concurrent second request waits here, and then finds the domain of the first.
    await prisma.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    const known = await prisma.domain.findUnique({ where: { workspaceId_name: { workspaceId, name } } })
    if (known) return { domain: known, created: false }
    await ensureRoom(prisma, workspaceId, 'ownDomains')
    const data = {
      workspaceId,
      name,
      ownershipToken: randomBytes(20).toString('hex'),
      createdAt: now,
      recheckAt: now,
    }
    const domain = await prisma.domain.create({ data })
    await prisma.dkimKey.create({ data: key })
    await audit({ ...deps, prisma }, viewer, {
      action: 'domain.add',
      agentId: null,
      detail: { domain: domain.id, name },
    })
    return { domain, created: true }
  })
}

/**
 * Sets the agent that gets mail to addresses on a domain that no agent has; null: such mail is refused. For members. Throws
 * `conflict` for a domain that is not verified, as for a new address on it.
 */
export const updateDomain = async (
  deps: DomainDeps,
  viewer: Viewer,
  domainId: string,
  { catchAllAgentId }: { catchAllAgentId?: string | null | undefined },
): Promise<Domain> => {
  const { workspaceId } = await findDomain(deps, viewer, domainId)
  return deps.prisma.$transaction(async (prisma) => {
    // Another workspace may be proving that the domain is its own.
    await prisma.$queryRaw`select 1 from domain where id = ${domainId}::uuid for no key update`
    const domain = await prisma.domain.findUnique({ where: { id: domainId } })
    if (!domain) throw notFound('domain')
    if (catchAllAgentId === undefined || catchAllAgentId === domain.catchAllAgentId) return domain
    if (catchAllAgentId !== null) {
      if (domain.state !== 'verified') throw new AppError('conflict', `${domain.name} is not verified.`)
      if ((await prisma.agent.count({ where: { id: catchAllAgentId, workspaceId } })) === 0)
        throw invalidInput('catchAllAgentId', 'is not an agent of this workspace')
    }
    await audit({ ...deps, prisma }, viewer, {
      action: 'domain.update',
      agentId: catchAllAgentId,
      detail: { domain: domainId, name: domain.name, catchAllAgentId },
    })
    return prisma.domain.update({ where: { id: domainId }, data: { catchAllAgentId } })
  })
}

/**
 * Removes a domain with its DKIM keys. For members. Throws `conflict` while an agent has an address on it, or members can only sign in
 * with a company at it.
 */
export const removeDomain = async (deps: DomainDeps, viewer: Viewer, domainId: string): Promise<void> => {
  const { id, name, workspaceId } = await findDomain(deps, viewer, domainId)
  await deps.prisma.$transaction(async (prisma) => {
    // A concurrent creation of an address on it waits until the domain is deleted, and is then refused.
    await prisma.$queryRaw`select 1 from domain where id = ${id}::uuid for update`
    const addresses = await prisma.address.count({ where: { domainId: id } })
    if (addresses > 0) {
      const have = addresses === 1 ? 'An agent has an address' : `Agents have ${addresses} addresses`
      throw new AppError('conflict', `${have} on ${name}: change or remove all addresses on it first.`)
    }
    // Its members would have no way to sign in.
    const signIn = { workspaceId, required: true, domains: { has: name } }
    if ((await prisma.companySignIn.count({ where: signIn })) > 0)
      throw new AppError(
        'conflict',
        `Members with addresses at ${name} must sign in with their company: change that first.`,
      )
    await prisma.dkimKey.deleteMany({ where: { domain: name, workspaceId } })
    const { count } = await prisma.domain.deleteMany({ where: { id } })
    if (count === 0) throw notFound('domain') // removed concurrently
    await audit({ ...deps, prisma }, viewer, {
      action: 'domain.remove',
      agentId: null,
      detail: { domain: id, name },
    })
  })
}
