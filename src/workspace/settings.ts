import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { Plan, Workspace } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { audit } from './change/audit.ts'
import {
  type CompanySignInInput,
  notifyOwnersOfSignIn,
  type PublicCompanySignIn,
  presentCompanySignIn,
  setCompanySignIn,
} from './company-sign-in.ts'
import type { Keyring } from './encryption/keyring.ts'
import type { Mailer } from './member/invitation.ts'
import { ensureMember, ensureOwner } from './member/member.ts'
import { RIGHTS_CHANGED, type Viewer } from './token/viewer.ts'
import { type Usage, usageOf } from './usage/usage.ts'

export interface SettingsDeps extends Db {
  clock: Clock
  publicUrl(): string
}

/** A workspace with its settings, its plan and its usage of the plan. */
export interface WorkspaceView {
  workspace: Workspace & { plan: Plan }
  signIn: PublicCompanySignIn | null
  usage: Usage
}

export interface WorkspaceChanges {
  name?: string | undefined
  agentsMaySetAccess?: boolean | undefined
  agentsMayCreateAgents?: boolean | undefined
  /** Whether members need a passkey to sign in. */
  requirePasskeys?: boolean | undefined
  /** How members sign in with the company's account; null: not. */
  signIn?: CompanySignInInput | null | undefined
  /** 1 to 365. */
  keepRefusedDays?: number | undefined
  /** 1 to 36500; null keeps them for ever. */
  keepMessagesDays?: number | null | undefined
  keepRawDays?: number | null | undefined
}

const settingsOf = (workspace: Workspace) => {
  const { agentsMaySetAccess, agentsMayCreateAgents, requirePasskeys } = workspace
  const { keepRefusedDays, keepMessagesDays, keepRawDays } = workspace
  return {
    ...{ agentsMaySetAccess, agentsMayCreateAgents, requirePasskeys },
    ...{ keepRefusedDays, keepMessagesDays, keepRawDays },
  }
}

/** Returns a workspace in its public form. A limit of null means no limit. */
export const presentWorkspace = ({ workspace, signIn, usage }: WorkspaceView) => {
  const { agents, members, ownDomains, webhooks, sendsPerDay, storedMessages, phoneNumbers, changeAddress } =
    workspace.plan
  return {
    id: workspace.id,
    name: workspace.name,
    plan: {
      key: workspace.plan.key,
      limits: { agents, members, ownDomains, webhooks, sendsPerDay, storedMessages, phoneNumbers },
      usage,
      changeAddress,
    },
    settings: { ...settingsOf(workspace), signIn },
    deletesAt: workspace.deleteAt?.toISOString() ?? null,
    createdAt: workspace.createdAt.toISOString(),
  }
}

const withoutSecret = (signIn: CompanySignInInput | null) => {
  if (signIn === null) return null
  const { clientSecret: _, domains, ...shown } = signIn
  return { ...shown, domains: [...domains] }
}

/** Returns the viewer's workspace. */
export const readWorkspace = async (
  deps: SettingsDeps,
  { workspaceId }: Pick<Viewer, 'workspaceId'>,
): Promise<WorkspaceView> => {
  const [workspace, usage] = await Promise.all([
    deps.prisma.workspace.findUniqueOrThrow({
      where: { id: workspaceId },
      include: { plan: true, signIn: true },
    }),
    usageOf(deps, workspaceId),
  ])
  return { workspace, signIn: presentCompanySignIn(deps, workspace.signIn), usage }
}

/**
 * Changes the given settings. The name is for members, all others for owners: they delete messages, or are what owners
 * forbid the others. A change of `requirePasskeys` or `signIn` counts at once for the sessions that are open. Throws the errors of
 * `setCompanySignIn`.
 */
export const updateWorkspace = async (
  deps: SettingsDeps & {
    notifier: Pick<Notifier, 'publish'>
    keyring: Pick<Keyring, 'seal'>
    mailer: Pick<Mailer, 'send'>
  },
  viewer: Viewer,
  changes: WorkspaceChanges,
): Promise<WorkspaceView> => {
  ensureMember(viewer)
  const { signIn, ...columns } = changes
  const { name: _, ...rules } = changes
  if (Object.values(rules).some((value) => value !== undefined)) ensureOwner(viewer)
  const data = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  await deps.prisma.$transaction(async (prisma) => {
    await prisma.workspace.update({ where: { id: viewer.workspaceId }, data })
    if (signIn !== undefined) await setCompanySignIn(deps, prisma, viewer, signIn)
    const detail = { ...data, ...(signIn !== undefined && { signIn: withoutSecret(signIn) }) }
    await audit({ ...deps, prisma }, viewer, { action: 'workspace.update', agentId: null, detail })
  })
  if (signIn !== undefined) await notifyOwnersOfSignIn(deps, viewer, signIn)
  deps.afterCommit(() => deps.notifier.publish(RIGHTS_CHANGED, viewer.workspaceId))
  return readWorkspace(deps, viewer)
}
