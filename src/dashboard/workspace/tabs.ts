import { type ComponentType, lazy } from 'react'
import { text } from './strings.ts'

interface WorkspaceTab {
  /** The last part of the address; empty for the first tab. */
  path: string
  label: string
  Screen: ComponentType
}

const screen = (load: () => Promise<{ Screen: ComponentType }>) =>
  lazy(async () => ({ default: (await load()).Screen }))

/** The screens of the workspace, in the order of the tabs. */
export const WORKSPACE_TABS: readonly WorkspaceTab[] = [
  { path: '', label: text.general, Screen: screen(() => import('./general.tsx')) },
  { path: 'people', label: text.people, Screen: screen(() => import('../people/people.tsx')) },
  { path: 'domains', label: text.domains, Screen: screen(() => import('../domains/domains.tsx')) },
  { path: 'numbers', label: text.numbers, Screen: screen(() => import('../numbers/numbers.tsx')) },
  { path: 'plan', label: text.plan, Screen: screen(() => import('../plan/plan.tsx')) },
  { path: 'audit', label: text.audit, Screen: screen(() => import('../audit/audit.tsx')) },
]
