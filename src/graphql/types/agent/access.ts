import type { AccessByChannel, AccessView } from '../../../agent/index.ts'
import {
  Access as ACCESS,
  allowSender,
  AccessByChannel as BY_CHANNEL,
  blockSender,
  disallowSender,
  setAccess,
  unblockSender,
} from '../../../api/agent/access.ts'
import { builder } from '../../builder/builder.ts'
import { described, exposed, mutation } from '../../builder/rendered.ts'
import { Agent } from './agent.ts'

const Access = builder.objectRef<AccessView>('Access').implement({
  description: ACCESS.sentence,
  fields: (t) => exposed(t, ACCESS.fields),
})

const AgentAccess = builder.objectRef<AccessByChannel>('AgentAccess').implement({
  description: BY_CHANNEL.sentence,
  fields: (t) =>
    Object.fromEntries(
      Object.entries(BY_CHANNEL.fields).map(([channel, rule]) => [
        channel,
        t.field({
          type: Access,
          ...described(rule),
          resolve: (access) => access[channel as keyof AccessByChannel],
        }),
      ]),
    ),
})

builder.prismaObjectField(Agent, 'access', (t) =>
  t.field({
    type: AgentAccess,
    description: BY_CHANNEL.sentence,
    select: { access: { select: { channel: true, admit: true, senders: true, blocked: true } } },
    resolve: ({ access }) =>
      Object.fromEntries(access.map((row) => [row.channel, row])) as unknown as AccessByChannel,
  }),
)

mutation(setAccess, 'Who may send messages on a channel.', (t) => ({
  access: t.field({ type: Access, description: 'The updated access.', resolve: ({ result }) => result }),
}))

for (const change of [allowSender, disallowSender, blockSender, unblockSender])
  mutation(change, 'A sender on a channel.', (t) => ({
    access: t.field({ type: Access, description: 'The updated access.', resolve: ({ result }) => result }),
  }))
