import { type ComponentType, lazy } from 'react'
import { text } from './strings.ts'

interface AgentTab {
  /** The last part of the address; empty for the first tab. */
  path: string
  label: string
  Screen: ComponentType<{ agentId: string }>
}

type Load = () => Promise<{ Screen: ComponentType<{ agentId: string }> }>

const screen = (load: Load) => lazy(async () => ({ default: (await load()).Screen }))

/** The screens of one agent, in the order of the tabs. */
export const AGENT_TABS: readonly AgentTab[] = [
  { path: '', label: text.overview, Screen: screen(() => import('./overview.tsx')) },
  { path: 'access', label: text.access, Screen: screen(() => import('../access/access.tsx')) },
  { path: 'tokens', label: text.tokens, Screen: screen(() => import('../tokens/tokens.tsx')) },
  { path: 'webhooks', label: text.webhooks, Screen: screen(() => import('../webhooks/webhooks.tsx')) },
  { path: 'secrets', label: text.secrets, Screen: screen(() => import('../secrets/secrets.tsx')) },
  { path: 'settings', label: text.settings, Screen: screen(() => import('../settings/settings.tsx')) },
]
