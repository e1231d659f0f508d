import { type Operation, operation } from '../../../api/operation.ts'
import { says } from '../../../api/resource.ts'
import { deleteWorkspace, restoreWorkspace } from '../../../api/workspace/workspace.ts'
import { notFound } from '../../../core/errors.ts'
import { uuid } from '../../../core/rules.ts'
import { ensureOwner } from '../../../workspace/index.ts'
import { mutation } from '../../builder/rendered.ts'
import { Workspace } from './workspace.ts'

type OfWorkspace<Result> = Operation<Record<never, never>, Result>

/** The id confirms that the caller means this workspace: these mutations have no other argument. */
const addMutation = <Result extends { id: string }>(of: OfWorkspace<Result>, description: string): void => {
  const confirmed = operation({
    ...of,
    input: { workspaceId: says(uuid, 'Its id, as a confirmation.') },
    run: async (deps, viewer, { workspaceId }) => {
      ensureOwner(viewer)
      if (workspaceId !== viewer.workspaceId) throw notFound('workspace')
      return of.run(deps, viewer, {})
    },
  })
  mutation(confirmed, "The caller's workspace.", (t) => ({
    workspace: t.prismaField({
      type: Workspace,
      description,
      resolve: (query, { result: { id } }, _args, { deps }) =>
        deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }))
}

addMutation(deleteWorkspace, 'The workspace, with `deletesAt`.')
addMutation(restoreWorkspace, 'The workspace.')
