import { z } from 'zod'
import {
  type AccessList,
  addSender as add,
  readAccess as read,
  removeSender as remove,
  setAccess as set,
} from '../../agent/index.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { sender, senders, uuid } from '../../core/rules.ts'
import { Channel } from '../choices.ts'
import { ID } from '../example.ts'
import { nothing, one, operation } from '../operation.ts'
import { choice, part, resource, says } from '../resource.ts'

const Admit = choice('Admit', 'Who may send messages on a channel.', {
  anyone: 'Anyone. Not allowed for the Message URL.',
  team: "The workspace's members and agents, and the listed senders.",
  list: 'Only the listed senders.',
})

const SENDERS = { email: ['ann@example.com', '*@example.org'], id: [ID] }
const ENTRIES =
  'email addresses and *@domain, phone numbers, Telegram user ids and usernames; for the Message URL, ids of agents and members'

const ADMITS =
  '`list`: only the listed senders; `team`: also the members and agents of the workspace; `anyone`: all senders'

const list = z.array(z.string()).meta({ maxItems: 1000 })

export const Access = resource(
  'Access',
  'Who may send messages to the agent on a channel. Messages from anyone else are refused.',
  {
    fields: {
      admit: says(Admit, `Who may send. ${ADMITS}.`),
      senders: says(list, `The allowed senders: ${ENTRIES}.`),
      blocked: says(list, 'Senders that are refused even if they are listed or on the team.'),
    },
    example: { admit: 'list', senders: SENDERS.email, blocked: ['eve@example.org'] },
  },
)

type Way = (typeof WAYS_IN)[keyof typeof WAYS_IN]

const forEach = <Value>(of: (way: Way) => Value) =>
  Object.fromEntries(Object.entries(WAYS_IN).map(([channel, way]) => [channel, of(way)])) as Record<
    keyof typeof WAYS_IN,
    Value
  >

export const AccessByChannel = resource(
  'AccessByChannel',
  'Who may send messages to the agent on each channel.',
  {
    fields: forEach(({ by }) => part(Access, by)),
    example: forEach(({ admit, creator }) => ({
      admit,
      senders: creator === null ? [] : SENDERS[creator],
      blocked: [],
    })),
  },
)

const tag = 'Access'
const agentId = says(uuid, 'The agent.')
const channel = says(Channel, 'The channel.')

export const readAccess = operation({
  name: 'readAccess',
  says: 'Returns the access settings of each channel.',
  rest: 'GET /agents/{agentId}/access',
  tag,
  scope: 'settings',
  input: { agentId },
  fails: ['agent'],
  output: one(AccessByChannel, 'By channel.'),
  run: (deps, viewer, { agentId }) => read(deps, viewer, agentId),
})

export const setAccess = operation({
  name: 'setAccess',
  says: 'Sets who may send messages on a channel. Fields that are left out are not changed.',
  rest: 'PUT /agents/{agentId}/access/{channel}',
  tag,
  scope: 'settings',
  input: {
    agentId,
    channel,
    admit: says(Admit, `Who may send. ${ADMITS}, which is not allowed for the Message URL.`).optional(),
    senders: says(
      senders,
      `The complete list, which replaces the current one: at most 1000 entries of 1 to 320 characters. Entries are ${ENTRIES}.`,
    ).optional(),
    blocked: says(
      senders,
      'The complete list of senders that are refused in any case, which replaces the current one: at most 1000 entries.',
    ).optional(),
  },
  restRequires: ['senders'],
  example: { admit: 'list', senders: SENDERS.email },
  fails: ['agent', 'conflict'],
  output: one(Access, 'The updated access.'),
  run: (deps, viewer, { agentId, ...access }) => set(deps, viewer, agentId, access),
})

const entry = { agentId, channel, sender: says(sender, 'An entry of the list.') }
const ALONE = 'Changes only this entry, whatever others change at the same time.'

/** Adds an entry to one of the lists of a channel's access. */
const adding = (name: string, list: AccessList, does: string) =>
  operation({
    name,
    says: `${does} ${ALONE}`,
    rest: `POST /agents/{agentId}/access/{channel}/${list}`,
    tag,
    scope: 'settings',
    input: entry,
    example: { sender: 'ann@example.com' },
    fails: ['agent', 'conflict'],
    output: one(Access, 'The updated access.'),
    run: (deps, viewer, given) => add(deps, viewer, { ...given, list }),
  })

/** Removes an entry from one of the lists of a channel's access. */
const removing = (name: string, list: AccessList, does: string) =>
  operation({
    name,
    says: `${does} ${ALONE}`,
    rest: `DELETE /agents/{agentId}/access/{channel}/${list}/{sender}`,
    tag,
    scope: 'settings',
    input: entry,
    fails: ['agent'],
    output: nothing,
    run: (deps, viewer, given) => remove(deps, viewer, { ...given, list }),
  })

export const allowSender = adding('allowSender', 'senders', 'Adds a sender to those that a channel admits.')
export const disallowSender = removing(
  'disallowSender',
  'senders',
  'Removes a sender from those that a channel admits.',
)
export const blockSender = adding('blockSender', 'blocked', 'Blocks a sender on a channel.')
export const unblockSender = removing('unblockSender', 'blocked', 'Unblocks a sender on a channel.')
