import { type ComponentType, lazy } from 'react'

/** The screens by path. Each is loaded when it is opened; `:name` is a parameter of the component. */
type Load = () => Promise<{ Screen: ComponentType }>

const screen = (load: Load) => lazy(async () => ({ default: (await load()).Screen }))

export const ROUTES = [
  { path: '/home', Screen: screen(() => import('../home/home.tsx')) },
  { path: '/inbox/:thread?', Screen: screen(() => import('../inbox/inbox.tsx')) },
  { path: '/waiting/:tab?', Screen: screen(() => import('../waiting/waiting.tsx')) },
  { path: '/compose', Screen: screen(() => import('../compose/compose.tsx')) },
  { path: '/drafts', Screen: screen(() => import('../compose/drafts.tsx')) },
  { path: '/outbox/:tab?', Screen: screen(() => import('../outbox/outbox.tsx')) },
  { path: '/health/:tab?', Screen: screen(() => import('../health/health.tsx')) },
  { path: '/agents', Screen: screen(() => import('../agents/agents.tsx')) },
  { path: '/agents/:agent/:tab?', Screen: screen(() => import('../agent/agent.tsx')) },
  { path: '/workspace/:tab?', Screen: screen(() => import('../workspace/workspace.tsx')) },
  { path: '/profile', Screen: screen(() => import('../account/account.tsx')) },
] as const
