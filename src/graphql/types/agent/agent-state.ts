import { type Listening as ListeningShape, readListening } from '../../../agent/index.ts'
import {
  countHeld,
  countRefused,
  countUnheard,
  HOURS,
  MAX_COUNTED,
  MAX_EVENTS,
  MAX_IN_HOUR,
  REFUSED_DAYS,
  readActivity,
} from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { Agent } from './agent.ts'

const Listening = builder.objectRef<ListeningShape>('Listening').implement({
  description: "Whether anybody receives an agent's messages as they arrive.",
  fields: (t) => ({
    now: t.exposeBoolean('now', {
      description:
        'Whether a client is connected, a call of the MCP tool wait_for_messages waits, or a webhook for received messages is neither paused nor failing.',
    }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description:
        'While it listens: since when its first listener does (a webhook: when it was added). Else when its last listener ended, failed or was paused; null if it never had one, or that is not known any more.',
    }),
  }),
})

type Read<Value> = (
  deps: GraphqlContext['deps'],
  agentIds: readonly string[],
  now: Date,
) => Promise<readonly Value[]>

/** Resolves a field of an agent, with one statement for all agents of the query. */
const ofAgents =
  <Value>(name: string, read: Read<Value>) =>
  ({ id }: { id: string }, _args: object, context: GraphqlContext): Promise<Value> =>
    batched(context, name, id, (agentIds: readonly string[]) =>
      read(context.deps, agentIds, context.deps.clock.now()),
    )

/** Each is a statement for all agents, which reads up to some hundred rows of each. */
const complexity = 5

builder.prismaObjectFields(Agent, (t) => ({
  activity: t.intList({
    complexity: 2 * complexity,
    description: `Messages received in each of the last ${HOURS} hours, oldest first; counted up to ${MAX_IN_HOUR} an hour on each channel.`,
    resolve: ofAgents('activity', readActivity),
  }),
  listening: t.field({
    type: Listening,
    complexity,
    description: 'Whether it listens for messages, and since when.',
    resolve: ofAgents('listening', readListening),
  }),
  unheardCount: t.int({
    complexity,
    description: `Number of received messages, among its latest ${MAX_EVENTS} events of the last 7 days, that nobody has marked as read and that no listener was given: no client was connected when or after they arrived, no call of wait_for_messages has got that far, and no webhook for them has delivered or given them up. Counted up to ${MAX_COUNTED}.`,
    resolve: ofAgents('unheard', countUnheard),
  }),
  heldCount: t.int({
    complexity,
    description: `Number of its messages that wait for the approval of a member, counted up to ${MAX_COUNTED}.`,
    resolve: ofAgents('held', countHeld),
  }),
  refusedCount: t.int({
    complexity,
    description: `Number of messages refused in the last ${REFUSED_DAYS} days and not let in since, counted up to ${MAX_COUNTED}.`,
    resolve: ofAgents('refused', countRefused),
  }),
}))
