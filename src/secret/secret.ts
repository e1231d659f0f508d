import { changeGuard, findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { ActorKind } from '../db/generated/prisma/enums.ts'
import { audit, type Keyring, NIL, type SealedColumn, type Viewer } from '../workspace/index.ts'
import { isGuarded } from './guard/guarded.ts'
import { boundTo, type Guards } from './guard/guards.ts'

export interface SecretDeps extends Db {
  clock: Clock
  keyring: Keyring
}

interface ChangeDeps extends SecretDeps {
  guards: Pick<Guards, 'changed'>
}

/** A secret in lists, without its value. */
export interface SecretItem {
  name: string
  kind: 'secret'
  setBy: ActorKind
  updatedAt: Date
}

/** Value of a secret, in UTF-8. @limit Secrets */
const MAX_VALUE_BYTES = 64 * 1024

/** Secrets of an agent: revealing all of them holds them all in memory. @limit Secrets */
const MAX_SECRETS = 1_000
/** Total size of an agent's secrets. @limit Secrets */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Ensures that the agent may have a value of this size, in place of an existing one with the same name. Locks
 * the agent until the transaction ends, so that concurrent values are all counted. Throws `conflict`.
 */
const ensureRoom = async (
  tx: Prisma.TransactionClient,
  agentId: string,
  name: string,
  bytes: number,
): Promise<void> => {
  await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for no key update`
  const [others] = await tx.$queryRaw<{ count: number; bytes: number }[]>`
    select count(*)::int as count, coalesce(sum(length(sealed)), 0)::int as bytes
      from secret where agent_id = ${agentId}::uuid and name <> ${name}`
  if (others!.count >= MAX_SECRETS || others!.bytes + bytes > MAX_BYTES)
    throw new AppError(
      'conflict',
      `An agent can have at most ${MAX_SECRETS} secrets, 16 MiB in total. Delete one first.`,
    )
}

/** Returns the agent's secrets by name, without their values. */
export const listSecrets = async (deps: Db, viewer: Viewer, agentId: string): Promise<SecretItem[]> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.secret.findMany({
    where: { agentId },
    orderBy: { name: 'asc' },
    select: { name: true, setByKind: true, updatedAt: true },
  })
  return rows.map(({ name, setByKind, updatedAt }) => ({ name, kind: 'secret', setBy: setByKind, updatedAt }))
}

/** A secret that was set, and whether messages are compared with its value: with short and common ones they are not. */
export type StoredSecret = SecretItem & { guarded: boolean }

/** Stores a value under a name, in place of an earlier one. Throws `conflict` beyond the limits. */
export const setSecret = async (
  deps: ChangeDeps,
  viewer: Viewer,
  agentId: string,
  { name, value }: { name: string; value: string },
): Promise<StoredSecret> => {
  const agent = await findAgent(deps, viewer, agentId)
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    throw invalidInput('value', `must be at most ${MAX_VALUE_BYTES} bytes`)
  const sealed = Uint8Array.from(await deps.keyring.seal(agent.workspaceId, value, boundTo(agentId, name)))
  const now = deps.clock.now()
  const data = { sealed, setByKind: viewer.kind, setById: viewer.id, updatedAt: now }
  await deps.prisma.$transaction(async (tx) => {
    await ensureRoom(tx, agentId, name, sealed.length)
    await tx.secret.upsert({
      where: { agentId_name: { agentId, name } },
      create: { agentId, name, createdAt: now, ...data },
      update: data,
    })
    await changeGuard(tx, agentId)
    await audit({ ...deps, prisma: tx }, viewer, { action: 'secret.set', agentId, detail: { name } })
  })
  deps.guards.changed(deps, agentId)
  return { name, kind: 'secret', setBy: viewer.kind, updatedAt: now, guarded: isGuarded(value) }
}

/** Deletes a secret. Throws `not_found` if there is none with this name. */
export const deleteSecret = async (
  deps: Omit<ChangeDeps, 'keyring'>,
  viewer: Viewer,
  agentId: string,
  name: string,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  await deps.prisma.$transaction(async (tx) => {
    const { count } = await tx.secret.deleteMany({ where: { agentId, name } })
    if (count === 0) throw notFound('secret', 'name')
    await changeGuard(tx, agentId)
    await audit({ ...deps, prisma: tx }, viewer, { action: 'secret.delete', agentId, detail: { name } })
  })
  deps.guards.changed(deps, agentId)
}

/**
 * Returns the values of the named secrets (all when `names` is undefined), for the agent itself only. Unknown
 * names are left out. The audit log records who revealed which names before the values are returned.
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
      async ({ name, sealed }) =>
        [
          name,
          (await deps.keyring.open(agent.workspaceId, sealed, boundTo(agentId, name))).toString(),
        ] as const,
    ),
  )
  await audit(deps, viewer, {
    action: 'secret.reveal',
    agentId,
    detail: { names: rows.map(({ name }) => name) },
  })
  return Object.fromEntries(values)
}

/** All values, for the rotation of data keys; `bound` must equal the result of `boundTo`. */
export const SEALED_SECRETS: SealedColumn = {
  name: 'secret.sealed',
  first: [NIL, ''],
  page: `
    select array[s.agent_id::text, s.name] as at, s.sealed, format('secret:%s:%s', s.agent_id, s.name) as bound
      from secret s join agent a on a.id = s.agent_id
     where a.workspace_id = $1 and (s.agent_id, s.name) > (($2::text[])[1]::uuid, ($2::text[])[2])
     order by s.agent_id, s.name limit $3`,
  replace: `update secret set sealed = $3 where agent_id = ($1::text[])[1]::uuid and name = ($1::text[])[2] and sealed = $2`,
}
