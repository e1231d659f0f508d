import { type AccessByChannel, type AccessView, setAccess } from '../../agent/access.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { senders } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { Agent } from './agent.ts'
import { Admit, Channel } from './enums.ts'

const Access = builder.objectRef<AccessView>('Access').implement({
  description: 'Who may send messages to the agent on a channel. Messages from anyone else are refused.',
  fields: (t) => ({
    admit: t.expose('admit', { type: Admit, description: 'Who may send besides the listed senders.' }),
    senders: t.exposeStringList('senders', {
      description:
        'The allowed senders: email addresses and *@domain, phone numbers, Telegram user ids and usernames; for the Message URL, ids of agents and members.',
    }),
  }),
})

const AgentAccess = builder.objectRef<AccessByChannel>('AgentAccess').implement({
  description: 'Who may send messages to the agent on each channel.',
  fields: (t) =>
    Object.fromEntries(
      Object.entries(WAYS_IN).map(([channel, { by }]) => [
        channel,
        t.field({
          type: Access,
          description: by,
          resolve: (access) => access[channel as keyof AccessByChannel],
        }),
      ]),
    ),
})

builder.prismaObjectField(Agent, 'access', (t) =>
  t.field({
    type: AgentAccess,
    description: 'Who may send messages to the agent on each channel.',
    select: { access: { select: { channel: true, admit: true, senders: true } } },
    resolve: ({ access }) =>
      Object.fromEntries(access.map((row) => [row.channel, row])) as unknown as AccessByChannel,
  }),
)

const SetAccessInput = builder.inputType('SetAccessInput', {
  description: 'Who may send messages on a channel.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    channel: t.field({ type: Channel, required: true, description: 'The channel.' }),
    admit: t.field({
      type: Admit,
      description: 'Defaults to the current value. `anyone` is not allowed for the Message URL.',
    }),
    senders: t.stringList({
      required: true,
      description:
        'The complete list, which replaces the current one: at most 1000 entries of 1 to 320 characters.',
    }),
  }),
})

const SetAccessPayload = builder.objectRef<{ access: AccessView }>('SetAccessPayload').implement({
  description: 'Result of `setAccess`.',
  fields: (t) => ({
    access: t.field({
      type: Access,
      description: 'The updated access.',
      resolve: ({ access }) => access,
    }),
  }),
})

builder.mutationField('setAccess', (t) =>
  t.field({
    type: SetAccessPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Sets who may send messages on a channel.',
    args: {
      input: t.arg({ type: SetAccessInput, required: true, description: 'The channel and its list.' }),
    },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentId, channel, admit } = input
      return {
        access: await setAccess(deps, viewer, agentId, {
          channel,
          ...checked({ senders }, input),
          admit: given(admit),
        }),
      }
    },
  }),
)
