import { notFound } from '../../core/errors.ts'
import { cancelDeletion, scheduleDeletion } from '../../workspace/deletion.ts'
import { ensureOwner } from '../../workspace/member.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { builder } from '../builder.ts'
import { workspacePayload } from './workspace.ts'

/** The id confirms that the caller means this workspace: these mutations have no other argument. */
const ownWorkspace = (name: string) =>
  builder.inputType(name, {
    description: "The caller's workspace.",
    fields: (t) => ({
      workspaceId: t.field({ type: 'UUID', required: true, description: 'Its id, as a confirmation.' }),
    }),
  })

/** Throws `not_found` for the id of another workspace. */
const ensureOwn = (workspaceId: string, viewer: Viewer): void => {
  ensureOwner(viewer)
  if (workspaceId !== viewer.workspaceId) throw notFound('workspace')
}

const DeleteWorkspacePayload = workspacePayload('DeleteWorkspace', 'The workspace, with `deletesAt`.')

builder.mutationField('deleteWorkspace', (t) =>
  t.field({
    type: DeleteWorkspacePayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Deletes the workspace in 24 hours, with its agents, messages, secrets, domains and members. Until then, everything works as before, and an owner can cancel it. Every owner is told by email. Asking again does not postpone it. Owners only. `GET /export` exports everything before.',
    args: {
      input: t.arg({ type: ownWorkspace('DeleteWorkspaceInput'), required: true, description: 'Which one.' }),
    },
    resolve: async (_root, { input }, { deps, viewer }) => {
      ensureOwn(input.workspaceId, viewer)
      return (await scheduleDeletion(deps, viewer)).workspace
    },
  }),
)

const RestoreWorkspacePayload = workspacePayload('RestoreWorkspace', 'The workspace.')

builder.mutationField('restoreWorkspace', (t) =>
  t.field({
    type: RestoreWorkspacePayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Cancels the deletion of the workspace. Changes nothing if none was requested. `conflict` once it has begun. Owners only.',
    args: {
      input: t.arg({
        type: ownWorkspace('RestoreWorkspaceInput'),
        required: true,
        description: 'Which one.',
      }),
    },
    resolve: async (_root, { input }, { deps, viewer }) => {
      ensureOwn(input.workspaceId, viewer)
      return (await cancelDeletion(deps, viewer)).workspace
    },
  }),
)
