import { CHANGE_KINDS, type ChangeKind } from '../../../workspace/index.ts'
import { builder } from '../../builder/builder.ts'
import type { WorkspaceChanges as ChangesShape, Item } from '../../feed/item.ts'
import { followWorkspace, writePosition } from '../../subscription/follow-workspace.ts'

const Kind = builder.enumType('WorkspaceChangeKind', {
  description: 'What changed.',
  values: Object.fromEntries(
    Object.entries(CHANGE_KINDS).map(([kind, description]) => [kind, { description }]),
  ) as Record<ChangeKind, { description: string }>,
})

const WorkspaceChange = builder.objectRef<ChangesShape['changes'][number]>('WorkspaceChange').implement({
  description: 'Something that changed. Query what you show of it.',
  fields: (t) => ({
    kind: t.expose('kind', { type: Kind, description: 'What changed.' }),
    agentId: t.expose('agentId', {
      type: 'UUID',
      nullable: true,
      description: 'The agent, which may have been deleted; null for the workspace.',
    }),
    ids: t.field({
      type: ['UUID'],
      description:
        'The messages, threads, drafts or webhooks that changed; some may have been deleted. Empty for other kinds.',
      resolve: ({ ids = [] }) => [...ids],
    }),
  }),
})

const WorkspaceChanges = builder.objectRef<ChangesShape>('WorkspaceChanges').implement({
  description: 'What changed in a workspace since the previous result.',
  fields: (t) => ({
    position: t.string({
      description: 'Pass it as `after` to continue after this result.',
      resolve: ({ position }) => writePosition(position),
    }),
    truncated: t.exposeBoolean('truncated', {
      description:
        'Whether there is more than can be listed: `after` was more than a day ago, or too much has changed. Query everything that you show again.',
    }),
    changes: t.field({
      type: [WorkspaceChange],
      description: 'What changed; empty in the first result if nothing did.',
      resolve: ({ changes }) => changes,
    }),
  }),
})

builder.subscriptionField('workspaceChanged', (t) =>
  t.field({
    type: WorkspaceChanges,
    description:
      'What changes in the workspace: messages (also refused ones), threads, agents, access, listeners, webhooks, drafts, members and so on. Members only. The first result is sent at once, with the position at which the subscription starts: query what you show after it. Each change is then in one result, within about two seconds of its commit. Resume with the last `position` as `after`: nothing is lost and nothing is repeated, over reconnects and restarts, for a day. Before the server ends the subscription, it sends an error with the reason: unauthorized (the token was revoked or expired), unavailable (the service is stopping).',
    args: {
      after: t.arg.string({
        description: 'The `position` of an earlier result: start after it. If left out, starts now.',
      }),
    },
    subscribe: (_root, { after }, context) => followWorkspace(context, after),
    resolve: (item: Item) => {
      if ('failure' in item) throw item.failure
      return item as ChangesShape
    },
  }),
)
