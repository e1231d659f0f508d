import { builder } from '../builder.ts'
import { Agent } from './agent.ts'
import { AddressChannel } from './enums.ts'

const Address = builder.prismaObject('Address', {
  description: 'Where an agent is reached.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    value: t.exposeString('value', { description: "The email address, phone number or the bot's @username." }),
    domainId: t.expose('domainId', { type: 'UUID', nullable: true, description: "The workspace's own domain that it is on." }),
    primary: t.exposeBoolean('primary', { description: 'Whether new messages on its channel go out from it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it joined the agent.' }),
  }),
})

builder.prismaObjectField(Agent, 'addresses', (t) =>
  t.relation('addresses', {
    type: Address,
    description: 'Where the agent is reached, oldest first.',
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)
