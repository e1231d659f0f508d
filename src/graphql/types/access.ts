import {
  type AccessByChannel,
  type AccessList,
  type AccessView,
  addSender,
  removeSender,
  setAccess,
} from '../../agent/access.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { sender, senders } from '../../core/rules.ts'
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
    blocked: t.exposeStringList('blocked', {
      description: 'Senders that are refused even if they are listed or on the team.',
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
    select: { access: { select: { channel: true, admit: true, senders: true, blocked: true } } },
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
      description:
        'The complete list, which replaces the current one: at most 1000 entries of 1 to 320 characters. Defaults to the current one.',
    }),
    blocked: t.stringList({
      description: 'The complete list of blocked senders, likewise. Defaults to the current one.',
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
          ...checked({ senders, blocked: senders }, input),
          admit: given(admit),
        }),
      }
    },
  }),
)

/** The mutations that change one entry of a list. */
const CHANGES: Record<string, { list: AccessList; run: typeof addSender; does: string }> = {
  allowSender: { list: 'senders', run: addSender, does: 'Adds a sender to those that a channel admits.' },
  disallowSender: {
    list: 'senders',
    run: removeSender,
    does: 'Removes a sender from those that a channel admits.',
  },
  blockSender: { list: 'blocked', run: addSender, does: 'Blocks a sender on a channel.' },
  unblockSender: { list: 'blocked', run: removeSender, does: 'Unblocks a sender on a channel.' },
}

for (const [name, { list, run, does }] of Object.entries(CHANGES)) {
  const title = `${name[0]!.toUpperCase()}${name.slice(1)}`
  const Input = builder.inputType(`${title}Input`, {
    description: 'A sender on a channel.',
    fields: (t) => ({
      agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
      channel: t.field({ type: Channel, required: true, description: 'The channel.' }),
      sender: t.string({ required: true, description: 'An entry of the list: 1 to 320 characters.' }),
    }),
  })
  const Payload = builder.objectRef<{ access: AccessView }>(`${title}Payload`).implement({
    description: `Result of \`${name}\`.`,
    fields: (t) => ({
      access: t.field({ type: Access, description: 'The updated access.', resolve: ({ access }) => access }),
    }),
  })
  builder.mutationField(name, (t) =>
    t.field({
      type: Payload,
      nullable: true,
      idempotency: 'ignored',
      description: `${does} Changes only this entry, whatever others change at the same time.`,
      args: { input: t.arg({ type: Input, required: true, description: 'The sender.' }) },
      resolve: async (_root, { input }, { deps, viewer }) => {
        const { agentId, channel } = input
        const entry = { agentId, channel, list, ...checked({ sender }, input) }
        return { access: await run(deps, viewer, entry) }
      },
    }),
  )
}
