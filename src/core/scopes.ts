import { AppError } from './errors.ts'

/** What a token may be used for: each scope, with what it allows. */
export const SCOPES = {
  'messages:read': 'Read messages, threads, drafts, files and questions, and take codes.',
  'messages:write':
    'Send messages, write drafts, label and delete messages, import them, and ask and answer questions.',
  events: 'Hear of events: streams, waiting, subscriptions and webhooks.',
  'secrets:reveal': "Reveal the values of the agent's secrets.",
  settings: 'Read and change settings, addresses, access, secrets and webhooks; create and delete agents.',
  tokens: 'Read, create and revoke tokens, and disconnect apps.',
  members: "Read, invite and remove members, and change one's own name, identities and sessions.",
  billing: 'Read and change the plan, domains and phone numbers.',
  audit: 'Read the audit log, and trace messages.',
} as const

export type Scope = keyof typeof SCOPES

/** Scopes that only the tokens of members can have. */
const MEMBER_SCOPES: readonly Scope[] = ['members', 'billing', 'audit']

const ALL = Object.keys(SCOPES) as Scope[]

/** The scopes that tokens of a member or of an agent can have. */
export const scopesOf = (kind: 'member' | 'agent'): readonly Scope[] =>
  kind === 'member' ? ALL : ALL.filter((scope) => !MEMBER_SCOPES.includes(scope))

/**
 * What something needs of the token that asks for it: a scope or several, all of them, or nothing (`any`), because every
 * token may do it.
 */
export type Needed = 'any' | Scope | readonly Scope[]

/** A holder of scopes; null means everything that the holder may do. */
export interface Scoped {
  readonly scopes: readonly Scope[] | null
}

export const scopesIn = (needed: Needed): readonly Scope[] => {
  if (needed === 'any') return []
  return typeof needed === 'string' ? [needed] : needed
}

/** The first scope that is needed and missing; undefined if none is. */
const missing = ({ scopes }: Scoped, needed: Needed): Scope | undefined =>
  scopes === null ? undefined : scopesIn(needed).find((scope) => !scopes.includes(scope))

export const hasScope = (viewer: Scoped, needed: Needed): boolean => missing(viewer, needed) === undefined

/** Throws `forbidden`, naming the scope, when the token lacks one that is needed. */
export const ensureScope = (viewer: Scoped, needed: Needed): void => {
  const scope = missing(viewer, needed)
  if (scope !== undefined) throw new AppError('forbidden', `This token does not have the scope ${scope}.`)
}

/** The same scopes in their usual order, each once. */
export const sorted = (scopes: readonly Scope[]): Scope[] => ALL.filter((scope) => scopes.includes(scope))
