import { z } from 'zod'
import {
  createAgent as create,
  findAgent,
  listAgents as list,
  MAX_AGENTS,
  readTexts,
  deleteAgent as remove,
  updateAgent as update,
} from '../../agent/index.ts'
import {
  agentName,
  metadata,
  metadataChanges,
  signature,
  templateName,
  templateText,
  uuid,
  wakeAfterSeconds,
  wakeLimit,
} from '../../core/rules.ts'
import { EVENT_NAMES, eventTypes } from '../../event/index.ts'
import { wakeNow } from '../../message/index.ts'
import { refuseLeaks } from '../../secret/index.ts'
import { Approval, Icon, Instructors, Manipulated, SecretsInMessages } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { created, cursor, linked, nothing, one, operation } from '../operation.ts'
import { count, group, id, resource, says, text, time } from '../resource.ts'

const EXAMPLE = {
  id: ID,
  name: 'Support Bot',
  icon: 'headphones',
  approval: 'none',
  instructors: 'members',
  manipulated: 'accept',
  secretsInMessages: 'refuse',
  wakesPerHour: 60,
  wakesPerThreadDay: null,
  wakeAfterSeconds: 0,
  eventTypes: EVENT_NAMES.slice(0, 1),
  metadata: { team: 'support' },
  createdAt: TIME,
}
const EVENTS = EVENT_NAMES.join(', ')
const WAKES = {
  hour: 'How many messages may wake it in an hour',
  threadDay: 'How many messages of one thread may wake it in 24 hours',
}

const WAKE_AFTER =
  'Time in seconds, at most 300, for which a new message waits for others of its thread before the agent hears of all of them together'

/** What an agent's token may see of another agent, one that it has created. */
export const OPEN = {
  id: id('Unique identifier.'),
  name: text('Its name.', { minLength: 1, maxLength: 100 }),
  icon: says(Icon, 'Its icon.'),
  createdAt: time('When it was created.'),
}

/** What only those see of an agent who may manage it. */
export const MANAGED = {
  approval: says(Approval, 'Which of its messages wait for the approval of a member.'),
  instructors: says(Instructors, 'Whose messages may instruct it, if their senders are proven.'),
  manipulated: says(
    Manipulated,
    'What happens to received emails whose check `manipulation` found something.',
  ),
  secretsInMessages: says(
    SecretsInMessages,
    'What happens to its messages that contain values of its secrets of 8 characters or more, encoded or in two parts too.',
  ),
  wakesPerHour: count(`${WAKES.hour}; null means no limit.`).nullable(),
  wakesPerThreadDay: count(`${WAKES.threadDay}; null means no limit.`).nullable(),
  wakeAfterSeconds: count(`${WAKE_AFTER}.`),
  eventTypes: says(
    z.array(z.enum(EVENT_NAMES)),
    `Types of the events that its log contains, of: ${EVENTS}. The first one is always among them.`,
  ),
  metadata: says(
    z.record(z.string(), z.string()),
    'What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it.',
  ),
}

export const Agent = resource('Agent', 'An agent, which sends and receives messages.', {
  fields: { ...OPEN, ...MANAGED },
  example: EXAMPLE,
})

const TEXTS = {
  signature: text('What the web application puts below what people write for it; null if it has none.', {
    maxLength: 2000,
  }).nullable(),
  templates: says(
    z
      .array(
        z.object({
          name: text('Its name.', { minLength: 1, maxLength: 60 }),
          text: text('What it says.', { minLength: 1, maxLength: 10_000 }),
        }),
      )
      .meta({ maxItems: 50 }),
    'Texts to answer with.',
  ),
}

/** Lists leave out its texts, which may be long. */
const AgentWithTexts = resource('AgentWithTexts', 'An agent with its texts.', {
  base: Agent,
  fields: { ...Agent.fields, ...TEXTS },
  example: {
    ...EXAMPLE,
    signature: 'Support Team',
    templates: [{ name: 'Refund', text: 'We have refunded your order.' }],
  },
})

/** Which people of the workspace choose by name. */
const templates = z
  .array(group('TemplateInput', 'A text to answer with.', { name: templateName, text: templateText }))
  .max(50, 'must contain at most 50 templates')

const tag = 'Agents'
const agentId = says(uuid, 'The agent.')
const name = says(agentName, 'Its name.')
const icon = says(Icon, 'Its icon.')

const withTexts = async <Row extends { id: string }>(deps: Parameters<typeof readTexts>[0], agent: Row) => ({
  ...agent,
  ...(await readTexts(deps, agent.id)),
})

export const createAgent = operation({
  name: 'createAgent',
  says: "Creates an agent with an email address on the service's domain. Its creator is added to its email and Message URL access lists. An agent's token works if the workspace allows agents to create agents: at most 60 an hour for all its agents together.",
  rest: 'POST /agents',
  tag,
  scope: 'settings',
  input: {
    name,
    icon,
    metadata: says(
      metadata,
      'Values to keep with it, by keys: at most 16 of 1 to 40 characters; values have at most 500.',
    ).optional(),
  },
  example: { name: 'Support Bot', icon: 'headphones' },
  fails: ['forbidden', 'plan', 'conflict'],
  output: created(Agent, 'The new agent.'),
  run: async (deps, viewer, input) => {
    // Its own: whoever gets mail of the agent that it creates reads the name.
    if (viewer.kind === 'agent')
      await refuseLeaks(deps, viewer, viewer.id, [{ name: 'name', text: input.name }])
    return create(deps, viewer, input)
  },
})

/** What every list of agents takes, apart from the page. */
export const AGENT_FILTER = {
  metadata: says(
    metadata,
    'Only agents with these values in their metadata: `metadata.KEY=VALUE` in a URL, for each key.',
  ).optional(),
}

export const listAgents = operation({
  name: 'listAgents',
  says: 'Lists the agents that the token can read.',
  rest: 'GET /agents',
  tag,
  scope: 'any',
  input: {
    limit: says(
      z.int().min(1).max(MAX_AGENTS).meta({ default: MAX_AGENTS }),
      `Maximum number of agents to return; defaults to ${MAX_AGENTS}.`,
    ).optional(),
    cursor: says(cursor, 'From the URL in `Link` of the previous page.').optional(),
    ...AGENT_FILTER,
  },
  fails: ['input'],
  output: linked(Agent, 'Oldest first.', MAX_AGENTS),
  run: (deps, viewer, page) => list(deps, viewer, page),
})

export const readAgent = operation({
  name: 'readAgent',
  says: 'Returns an agent.',
  rest: 'GET /agents/{agentId}',
  tag,
  scope: 'any',
  input: { agentId },
  fails: ['agent'],
  output: one(AgentWithTexts, 'The agent.'),
  run: async (deps, viewer, { agentId }) => withTexts(deps, await findAgent(deps, viewer, agentId)),
})

export const updateAgent = operation({
  name: 'updateAgent',
  says: "Changes an agent's name, icon, metadata or settings. Only members can change the limits. Messages over a limit are refused as `rate_limit`, stored, and can be released.",
  rest: 'PATCH /agents/{agentId}',
  tag,
  scope: 'settings',
  input: {
    agentId,
    name: name.optional(),
    icon: icon.optional(),
    approval: says(
      Approval,
      'Which of its messages wait for the approval of a member. Only members may change it. A stranger is a recipient who is not a member, an agent of the workspace or on the list of the channel, and from whom the agent has received no proven message. It holds for the agents that this one created or creates, too, as do the limits of wakes.',
    ).optional(),
    instructors: says(Instructors, 'Whose messages may instruct it. Only members may change it.').optional(),
    manipulated: says(
      Manipulated,
      'What happens to received emails whose check `manipulation` found something. Only members may change it.',
    ).optional(),
    secretsInMessages: says(
      SecretsInMessages,
      'What happens to its messages that contain values of its secrets. Only members may change it. It holds for the agents that this one created or creates, too. After 10 such messages in an hour, all of its messages wait for approval for an hour, unless it is `allow`.',
    ).optional(),
    wakesPerHour: says(wakeLimit, `${WAKES.hour}; null means no limit. Only members may change it.`)
      .nullable()
      .optional(),
    wakesPerThreadDay: says(wakeLimit, `${WAKES.threadDay}; null means no limit. Only members may change it.`)
      .nullable()
      .optional(),
    wakeAfterSeconds: says(wakeAfterSeconds, `${WAKE_AFTER}; 0 means not at all.`).optional(),
    eventTypes: says(
      eventTypes,
      `Types of the events that its log contains from now on, of: ${EVENTS}. The first one is always among them. A listener receives message.received alone until it asks for more.`,
    ).optional(),
    metadata: says(
      metadataChanges,
      'Values to keep with it, by keys: others stay, and null removes one. At most 16 keys of 1 to 40 characters; values have at most 500.',
    ).optional(),
    signature: says(
      signature,
      'What the web application puts below what people write for it. Null or an empty text removes it.',
    )
      .nullable()
      .optional(),
    templates: says(templates, 'All texts to answer with, at most 50.').optional(),
  },
  example: { name: 'Help Desk' },
  fails: ['agent', 'conflict'],
  output: one(AgentWithTexts, 'The updated agent.'),
  run: async (deps, viewer, { agentId, ...changes }) => {
    if (changes.name !== undefined) {
      await findAgent(deps, viewer, agentId)
      await refuseLeaks(deps, viewer, agentId, [{ name: 'name', text: changes.name }])
    }
    const agent = await update(deps, viewer, agentId, changes)
    if (changes.wakeAfterSeconds !== undefined) await wakeNow(deps, agentId)
    return withTexts(deps, agent)
  },
})

export const deleteAgent = operation({
  name: 'deleteAgent',
  says: 'Deletes an agent with its addresses, messages and secrets.',
  rest: 'DELETE /agents/{agentId}',
  tag,
  scope: 'settings',
  input: { agentId },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, { agentId }) => remove(deps, viewer, agentId),
})
