import { type AccessByChannel, type AccessView, setAccess } from '../../agent/access.ts'
import { senders } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { Agent } from './agent.ts'
import { Admit, Channel } from './enums.ts'

const Access = builder.objectRef<AccessView>('Access').implement({
  description: "Whom a channel lets in. Everybody else's messages are refused.",
  fields: (t) => ({
    admit: t.expose('admit', { type: Admit, description: 'Who besides the listed senders.' }),
    senders: t.exposeStringList('senders', {
      description:
        'The list: email addresses and *@domain, phone numbers, Telegram user ids and usernames; for the Message URL ids of agents and members.',
    }),
  }),
})

const AgentAccess = builder.objectRef<AccessByChannel>('AgentAccess').implement({
  description: 'Whom each channel of an agent lets in.',
  fields: (t) => ({
    email: t.field({ type: Access, description: 'By email.', resolve: ({ email }) => email }),
    sms: t.field({ type: Access, description: 'By text message.', resolve: ({ sms }) => sms }),
    telegram: t.field({ type: Access, description: 'By Telegram.', resolve: ({ telegram }) => telegram }),
    url: t.field({ type: Access, description: 'At the Message URL.', resolve: ({ url }) => url }),
  }),
})

builder.prismaObjectField(Agent, 'access', (t) =>
  t.field({
    type: AgentAccess,
    description: 'Whom each channel lets in.',
    select: { access: { select: { channel: true, admit: true, senders: true } } },
    resolve: ({ access }) => Object.fromEntries(access.map((row) => [row.channel, row])) as unknown as AccessByChannel,
  }),
)

const SetAccessInput = builder.inputType('SetAccessInput', {
  description: 'Whom a channel shall let in.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    channel: t.field({ type: Channel, required: true, description: 'The channel.' }),
    admit: t.field({ type: Admit, description: 'Left out: stays as it is. The Message URL is never open to anyone.' }),
    senders: t.stringList({ required: true, description: 'The whole list, at most 1000 entries of 1 to 320 characters.' }),
  }),
})

const SetAccessPayload = builder.objectRef<{ access: AccessView }>('SetAccessPayload').implement({
  description: 'What became of `setAccess`.',
  fields: (t) => ({ access: t.field({ type: Access, description: 'The access as it is now.', resolve: ({ access }) => access }) }),
})

builder.mutationField('setAccess', (t) =>
  t.field({
    type: SetAccessPayload,
    nullable: true,
    description: 'Sets whom a channel lets in.',
    args: { input: t.arg({ type: SetAccessInput, required: true, description: 'The channel and its list.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentId, channel, admit } = input
      return { access: await setAccess(deps, viewer, agentId, channel, { ...checked({ senders }, input), admit: given(admit) }) }
    },
  }),
)
