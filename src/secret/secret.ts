import { findAgent } from '../agent/reach.ts'
import type { Clock } from '../core/clock.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { ActorKind } from '../db/generated/prisma/enums.ts'
import { audit } from '../workspace/audit.ts'
import type { Keyring } from '../workspace/keyring.ts'
import type { Viewer } from '../workspace/viewer.ts'

export interface SecretDeps extends Db {
  clock: Clock
  keyring: Keyring
}

/** A secret as lists show it: never its value. */
export interface SecretItem {
  name: string
  kind: 'secret'
  setBy: ActorKind
  updatedAt: Date
}

/** Largest value, in bytes of UTF-8. */
const MOST_VALUE_BYTES = 64 * 1024

/** A sealed value opens only as this agent's secret of this name. */
const boundTo = (agentId: string, name: string) => `secret:${agentId}:${name}`

/** The agent's secrets by name, without their values. */
export const listSecrets = async (deps: Db, viewer: Viewer, agentId: string): Promise<SecretItem[]> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.secret.findMany({
    where: { agentId },
    orderBy: { name: 'asc' },
    select: { name: true, setByKind: true, updatedAt: true },
  })
  return rows.map(({ name, setByKind, updatedAt }) => ({ name, kind: 'secret', setBy: setByKind, updatedAt }))
}

/** Stores a value under a name, in place of an earlier one. */
export const setSecret = async (deps: SecretDeps, viewer: Viewer, agentId: string, name: string, value: string): Promise<SecretItem> => {
  const agent = await findAgent(deps, viewer, agentId)
  if (Buffer.byteLength(value) > MOST_VALUE_BYTES) throw invalidInput('value', `must be at most ${MOST_VALUE_BYTES} bytes`)
  const sealed = Uint8Array.from(await deps.keyring.seal(agent.workspaceId, value, boundTo(agentId, name)))
  const now = deps.clock.now()
  const data = { sealed, setByKind: viewer.kind, setById: viewer.id, updatedAt: now }
  await deps.prisma.secret.upsert({
    where: { agentId_name: { agentId, name } },
    create: { agentId, name, createdAt: now, ...data },
    update: data,
  })
  return { name, kind: 'secret', setBy: viewer.kind, updatedAt: now }
}

/** Deletes a secret. Throws `not_found` when there is none of this name. */
export const deleteSecret = async (deps: Db, viewer: Viewer, agentId: string, name: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const { count } = await deps.prisma.secret.deleteMany({ where: { agentId, name } })
  if (count === 0) throw notFound('secret', 'name')
}

/**
 * The values of the named secrets (all when `names` is left out), for the agent itself only. Names that it doesn't have are left out.
 * Who revealed which names when is in the audit before the values are handed over.
 */
export const revealSecrets = async (
  deps: SecretDeps,
  viewer: Viewer,
  agentId: string,
  names: readonly string[] | undefined,
): Promise<Record<string, string>> => {
  const agent = await findAgent(deps, viewer, agentId, 'be')
  const rows = await deps.prisma.secret.findMany({
    where: { agentId, ...(names ? { name: { in: [...names] } } : {}) },
    orderBy: { name: 'asc' },
  })
  const values = await Promise.all(
    rows.map(
      async ({ name, sealed }) => [name, (await deps.keyring.open(agent.workspaceId, sealed, boundTo(agentId, name))).toString()] as const,
    ),
  )
  await audit(deps, viewer, { action: 'secret.reveal', agentId, detail: { names: rows.map(({ name }) => name) } })
  return Object.fromEntries(values)
}
