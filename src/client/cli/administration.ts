import type { components } from '../api.ts'
import { type Command, type Input, repeated, valued } from './command.ts'
import { metadataOf } from './metadata.ts'
import { openWorkspace, readCredentials } from './settings.ts'
import { UsageError } from './terminal/failure.ts'
import { oneLine, printableJson } from './terminal/terminal.ts'

type Icon = components['schemas']['Agent']['icon']
type Instructors = components['schemas']['Agent']['instructors']
type SecretsInMessages = components['schemas']['Agent']['secretsInMessages']
type Manipulated = components['schemas']['Agent']['manipulated']

const tell = (input: Input, value: object, line: string): void =>
  input.terminal.out(input.json ? printableJson(value) : oneLine(line))

const set = async (input: Input): Promise<void> => {
  const instructors = input.text('instructors') as Instructors | undefined
  const secretsInMessages = input.text('secrets-in-messages') as SecretsInMessages | undefined
  const manipulated = input.text('manipulated') as Manipulated | undefined
  const waits = input.text('wake-after')
  const wakeAfterSeconds = waits === undefined ? undefined : Number(waits)
  const { metadata } = metadataOf(input)
  const given = [instructors, secretsInMessages, manipulated, wakeAfterSeconds, metadata]
  if (given.every((one) => one === undefined))
    throw new UsageError(
      'One of --instructors, --secrets-in-messages, --manipulated, --wake-after and --meta is missing.',
    )
  const { agent: client } = await input.open()
  const changed = await client.update({
    ...(instructors && { instructors }),
    ...(secretsInMessages && { secretsInMessages }),
    ...(manipulated && { manipulated }),
    ...(wakeAfterSeconds !== undefined && { wakeAfterSeconds }),
    ...(metadata && { metadata }),
  })
  const said = [
    instructors && `instructors: ${changed.instructors}`,
    secretsInMessages && `secrets in messages: ${changed.secretsInMessages}`,
    manipulated && `manipulated: ${changed.manipulated}`,
    wakeAfterSeconds !== undefined && `wakes after ${changed.wakeAfterSeconds} s`,
    ...Object.keys(metadata ?? {}).map((key) => `${key}: ${changed.metadata[key]}`),
  ]
  tell(input, changed, [changed.id, changed.name, ...said.filter(Boolean)].join('  '))
}

export const agents: Command = {
  usage:
    'agents list [--meta KEY=VALUE] | create NAME [--icon ICON] [--meta KEY=VALUE] | set --agent ID [--instructors WHO] [--secrets-in-messages WHAT] [--manipulated WHAT] [--wake-after SECONDS] [--meta KEY=VALUE]',
  summary: "list, create or set up agents, with a member's token",
  options: {
    meta: repeated('KEY=VALUE', 'a value to keep with it; of a list, only agents with it'),
    icon: valued('ICON', 'such as bot, mail or headphones; bot by default'),
    instructors: valued('WHO', 'whose proven messages may instruct the agent: none, members or listed'),
    manipulated: valued('WHAT', 'what happens to mail that hides or disguises something: accept or refuse'),
    'wake-after': valued(
      'SECONDS',
      'for how long new messages wait for others of their thread: 0 (the default) to 300',
    ),
    'secrets-in-messages': valued(
      'WHAT',
      'what happens to its messages with values of its secrets: refuse, hold or allow',
    ),
  },
  words: ['list', 'create', 'set'],
  examples: [
    'ams agents list',
    "ams agents create 'Support Bot' --icon headphones",
    'ams agents set --agent 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b --instructors none',
  ],
  run: async (input) => {
    const [action] = input.positionals
    const { agents } = openWorkspace(input.access(await readCredentials()))
    if (action === 'list') {
      input.atMost(1)
      for await (const agent of agents.list(metadataOf(input)))
        tell(input, agent, `${agent.id}  ${agent.name}`)
    } else if (action === 'create') {
      const name = input.required(1, 'NAME')
      input.atMost(2)
      // The service checks the icon, and says which there are.
      const icon = (input.text('icon') ?? 'bot') as Icon
      const agent = await agents.create({ name, icon, ...metadataOf(input) })
      tell(input, agent, `${agent.id}  ${agent.name}`)
    } else if (action === 'set') {
      input.atMost(1)
      await set(input)
    } else throw new UsageError('One of list, create and set is needed.')
    return undefined
  },
}

type Token = components['schemas']['Token']
type Scopes = NonNullable<Token['scopes']>

const lineOf = ({ id, name, createdAt, expiresAt, scopes }: Token): string =>
  [
    ...[id, name ?? '', `created ${createdAt}`],
    ...(expiresAt ? [`expires ${expiresAt}`] : []),
    ...(scopes ? [`scopes ${scopes.join(',')}`] : []),
  ].join('  ')

export const tokens: Command = {
  usage: 'tokens list | create [NAME] [--scopes SCOPES] [--expires TIME] | revoke ID',
  summary: "list, create or revoke an agent's tokens; a new one is printed once",
  options: {
    expires: valued('TIME', 'until when it is valid, as 2026-11-20T09:30:00Z'),
    scopes: valued(
      'SCOPES',
      'what it may be used for, with commas: messages:read, messages:write, events, secrets:reveal, settings, tokens; everything by default',
    ),
  },
  words: ['list', 'create', 'revoke'],
  examples: [
    'ams tokens list --agent 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    'export AMS_TOKEN=$(ams tokens create laptop --agent 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b)',
    'ams tokens create reader --scopes messages:read,events --agent 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
  ],
  run: async (input) => {
    const [action, given] = input.positionals
    input.atMost(action === 'list' ? 1 : 2)
    const { agent } = await input.open()
    if (action === 'list') for (const one of await agent.tokens.list()) tell(input, one, lineOf(one))
    else if (action === 'create') {
      const made = await agent.tokens.create({
        name: given ?? null,
        expiresAt: input.text('expires') ?? null,
        // The service checks them, and says which there are.
        scopes:
          (input
            .text('scopes')
            ?.split(',')
            .map((scope) => scope.trim()) as Scopes | undefined) ?? null,
      })
      tell(input, made, made.token)
    } else if (action === 'revoke') {
      await agent.tokens.revoke(input.required(1, 'ID'))
      if (!input.json) input.terminal.note('Revoked.')
    } else throw new UsageError('One of list, create and revoke is needed.')
    return undefined
  },
}

type Domain = components['schemas']['DomainWithRecords']

const catchesOf = ({
  id,
  name,
  state,
  catchAllAgentId,
}: Pick<Domain, 'id' | 'name' | 'state' | 'catchAllAgentId'>): string =>
  [id, name, state, ...(catchAllAgentId === null ? [] : [`catch-all ${catchAllAgentId}`])].join('  ')

export const domains: Command = {
  usage: 'domains list | catch-all NAME AGENT-ID|none',
  summary: "list domains, or set the agent that gets mail for unknown addresses, with a member's token",
  options: {},
  words: ['list', 'catch-all'],
  examples: ['ams domains list', 'ams domains catch-all example.com 0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'],
  run: async (input) => {
    const [action] = input.positionals
    const { domains } = openWorkspace(input.access(await readCredentials()))
    const all = await domains.list()
    if (action === 'list') {
      input.atMost(1)
      for (const one of all) tell(input, one, catchesOf(one))
    } else if (action === 'catch-all') {
      const [name, agent] = [input.required(1, 'NAME'), input.required(2, 'AGENT-ID')]
      input.atMost(3)
      const domain = all.find((one) => one.name === name)
      if (!domain) throw new UsageError(`The workspace has no domain ${name}.`)
      const changed = await domains.update(domain.id, { catchAllAgentId: agent === 'none' ? null : agent })
      tell(input, changed, catchesOf(changed))
    } else throw new UsageError('One of list and catch-all is needed.')
    return undefined
  },
}
