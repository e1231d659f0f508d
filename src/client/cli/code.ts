import type { CodeOptions } from '../code.ts'
import { type Command, given, valued } from './command.ts'
import { NONE_CAME, UsageError } from './terminal/failure.ts'
import { oneLine, printableJson } from './terminal/terminal.ts'

const DEFAULT_SECONDS = 30

export const code: Command = {
  usage: 'code [--from SENDER] [--seconds N]',
  summary: 'take the newest code or link that was sent to the agent, or wait for one',
  options: {
    from: valued('SENDER', 'only of this address or domain, as github.com; finds refused mail too'),
    kind: valued('KIND', 'code or link'),
    purpose: valued('PURPOSE', 'sign_in, verify, reset or other'),
    since: valued(
      'TIME',
      'only of messages since then, as 2026-11-20T09:30:00Z; by default the last 10 minutes',
    ),
    seconds: valued('N', `how long to wait; ${DEFAULT_SECONDS} by default`),
    unproven: {
      type: 'boolean',
      help: 'also of senders that are not proven, in whose names anyone can write',
    },
    as: valued('NAME', 'make it a secret for 10 minutes instead of printing it'),
  },
  examples: [
    'ams code --from github.com',
    'ams code --from github.com --as GITHUB_CODE && ams run --secrets GITHUB_CODE -- ./sign-up.sh',
  ],
  run: async (input) => {
    input.atMost(0)
    const since = input.text('since')
    if (since !== undefined && Number.isNaN(Date.parse(since)))
      throw new UsageError('--since must be a time.')
    const { agent } = await input.open()
    // The service checks the values, and says what is wrong with them.
    const wanted = given({
      ...Object.fromEntries(['from', 'kind', 'purpose', 'as'].map((name) => [name, input.text(name)])),
      since: since === undefined ? undefined : new Date(since),
      unproven: input.flag('unproven') || undefined,
      seconds: input.integer('seconds', DEFAULT_SECONDS),
    }) as CodeOptions
    const taken = await agent.code(wanted)
    if (taken === null)
      input.terminal.note(
        `ams: no such code came in time${input.flag('unproven') ? '' : '; one of a sender that is not proven needs --unproven'}`,
      )
    else if (input.json) input.terminal.out(printableJson(taken))
    else if (taken.value === undefined) input.terminal.note(`Set ${input.text('as')} for 10 minutes.`)
    else input.terminal.out(oneLine(taken.value))
    return taken ? undefined : NONE_CAME
  },
}
