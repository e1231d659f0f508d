import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { ActorKind } from '../db/generated/prisma/enums.ts'

/** Actions that are recorded in the audit log. */
export const ACTIONS = [
  'secret.reveal',
  'agent.approval',
  'message.approve',
  'message.reject',
  'message.cancel',
  'message.reschedule',
  'token.create',
  'token.revoke',
  'session.link',
  'session.create',
  'session.refuse',
  'session.revoke',
  'app.connect',
  'app.disconnect',
  'passkey.add',
  'passkey.remove',
  'workspace.update',
  'agent.update',
  'access.set',
  'message.release',
  'message.import',
  'message.delete',
  'member.invite',
  'member.join',
  'member.remove',
  'member.role',
  'invitation.revoke',
  'number.buy',
  'identity.claim',
  'identity.verify',
  'identity.remove',
  'number.release',
  'domain.add',
  'domain.verify',
  'domain.remove',
] as const
export type Action = (typeof ACTIONS)[number]

/** An audited action. `detail` never contains a value or a token. */
export interface Audited {
  action: Action
  agentId: string | null
  detail: Prisma.InputJsonObject
}

/** Who did it: a viewer, a person without a token, or an operator on the command line (without an id). */
interface Actor {
  workspaceId: string
  kind: ActorKind
  id: string | null
  tokenId: string | null
  /** Name of the connected app that acted as an agent. */
  app?: string | undefined
}

/** Records who did what, when. Resolves once that is committed, or part of the caller's transaction. */
export const audit = async (
  { prisma, clock }: { prisma: Pick<Db['prisma'], 'auditEntry'>; clock: Clock },
  actor: Actor,
  { action, agentId, detail }: Audited,
): Promise<void> => {
  await prisma.auditEntry.create({
    data: {
      workspaceId: actor.workspaceId,
      agentId,
      actorKind: actor.kind,
      actorId: actor.id,
      tokenId: actor.tokenId,
      action,
      detail: actor.app === undefined ? detail : { ...detail, app: actor.app },
      createdAt: clock.now(),
    },
  })
}
