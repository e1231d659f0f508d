import { invalidInput } from '../../../core/errors.ts'
import {
  type DomainHealth as DomainHealthShape,
  MAX_DOMAINS,
  MAX_MAILS,
  MAX_OF_AGENT,
  readMailHealth,
} from '../../../message/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { countRows } from '../../context/limits.ts'
import { Workspace } from './workspace.ts'

const DomainHealth = builder.objectRef<DomainHealthShape>('DomainHealth').implement({
  description: 'What became of the emails to the recipients of a domain.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The domain, in lower case.' }),
    sent: t.exposeInt('sent', {
      description:
        'How often mail was sent to a recipient, including what failed; without what is being sent.',
    }),
    bounced: t.exposeInt('bounced', {
      description:
        'How often that failed, at once or later: it was refused, bounced, or could not be delivered in time.',
    }),
    complained: t.exposeInt('complained', {
      description: 'How often a recipient reported it as spam.',
    }),
  }),
})

const MAX_DAYS = 90

builder.prismaObjectField(Workspace, 'mailHealth', (t) =>
  t.field({
    type: [DomainHealth],
    ...forMembers,
    select: { id: true },
    complexity: { field: 100, multiplier: MAX_DOMAINS },
    description: `What became of the emails of the last days, by the domain of their recipients, most mail first: at most ${MAX_DOMAINS} domains. It looks at the latest ${MAX_OF_AGENT} emails of an agent that were sent, that failed and that were reported, and at ${MAX_MAILS} in total. Members only.`,
    args: { days: t.arg.int({ description: `Number of days: 1 to ${MAX_DAYS}; defaults to 7.` }) },
    resolve: ({ id }, { days }, context) => {
      const wanted = days ?? 7
      if (wanted < 1 || wanted > MAX_DAYS)
        throw invalidInput('days', `must be a whole number from 1 to ${MAX_DAYS}`)
      countRows(context, 1_000)
      return readMailHealth(context.deps, id, wanted)
    },
  }),
)
