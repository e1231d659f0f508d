import { text as account } from '../account/strings.ts'
import { text as agent } from '../agent/strings.ts'
import { AGENT_TABS } from '../agent/tabs.ts'
import { text as agents } from '../agents/strings.ts'
import { text as compose } from '../compose/strings.ts'
import { text as domains } from '../domains/strings.ts'
import { text as numbers } from '../numbers/strings.ts'
import { text as outbox } from '../outbox/strings.ts'
import { text as people } from '../people/strings.ts'
import type { Viewer } from '../screen/viewer.tsx'
import { text as secrets } from '../secrets/strings.ts'
import { LIMITS } from '../settings/limits.ts'
import { text as settings } from '../settings/strings.ts'
import { text as tokens } from '../tokens/strings.ts'
import { text as trace } from '../trace/strings.ts'
import { text as waiting } from '../waiting/strings.ts'
import { text as webhooks } from '../webhooks/strings.ts'
import { text as workspace } from '../workspace/strings.ts'
import { WORKSPACE_TABS } from '../workspace/tabs.ts'

/** Where something can be done or set from any screen. */
export interface Place {
  href: string
  label: string
  /** What is pressed there, or the part of the page that is shown: its own words. */
  control?: string
  /** Who may. */
  right?: keyof Viewer['may']
}

const doing = (href: string, control: string, right?: Place['right']): Place => ({
  href,
  label: control,
  control,
  ...(right ? { right } : {}),
})

/** What is done in the workspace, by the words on its button. */
export const ACTIONS: readonly Place[] = [
  { href: '/compose', label: compose.keys.compose },
  doing('/agents', agents.create, 'createAgents'),
  doing('/workspace/people', people.invite, 'inviteMembers'),
  doing('/workspace/domains', domains.add, 'manageDomains'),
  doing('/workspace/numbers', numbers.rent, 'managePhoneNumbers'),
]

const at = (href: string, parts: readonly string[]): Place[] => parts.map((part) => doing(href, part))

/** Screens that no key leads to, and the settings by their names. */
export const SETTINGS: readonly Place[] = [
  { href: '/waiting/questions', label: waiting.questions },
  { href: '/waiting/refused', label: waiting.refused },
  { href: '/outbox/suppressed', label: outbox.suppressed },
  { href: '/health/trace', label: trace.title },
  { href: '/profile', label: account.title },
  ...WORKSPACE_TABS.map(({ path, label }) => ({ href: path ? `/workspace/${path}` : '/workspace', label })),
  ...at('/workspace', [
    workspace.agents,
    workspace.mayCreate,
    workspace.mayAccess,
    workspace.signIn,
    workspace.passkeys,
    workspace.keeping,
    ...Object.values(workspace.keep),
    workspace.export,
    workspace.danger,
  ]),
  ...at('/profile', [
    account.approvalMails,
    account.questionMails,
    account.notifications,
    account.sessions,
    account.endAll,
    account.passkeys,
    account.tokens,
    account.apps,
  ]),
]

/** What can be done with an agent, and set for it. */
export const placesOf = (id: string): Place[] => [
  { href: `/compose?agent=${id}`, label: compose.keys.compose },
  ...AGENT_TABS.map(({ path, label }) => ({ href: `/agents/${id}${path && `/${path}`}`, label })),
  doing(`/agents/${id}`, agent.connect),
  doing(`/agents/${id}/tokens`, tokens.create, 'createTokens'),
  doing(`/agents/${id}/webhooks`, webhooks.add),
  doing(`/agents/${id}/secrets`, secrets.set),
  ...at(`/agents/${id}/settings`, [
    settings.identity,
    settings.addresses,
    settings.approval,
    settings.secrets,
    settings.instructors,
    settings.manipulated,
    settings.limits,
    ...LIMITS.map(({ label }) => label),
    settings.eventTypes,
    settings.danger,
  ]),
]
