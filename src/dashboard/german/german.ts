import { access } from './access.ts'
import { account } from './account.ts'
import { agent } from './agent.ts'
import { agents } from './agents.ts'
import { audit, auditActions } from './audit.ts'
import { compose } from './compose.ts'
import { domains } from './domains.ts'
import { health } from './health.ts'
import { home } from './home.ts'
import { inbox } from './inbox.ts'
import { numbers } from './numbers.ts'
import { outbox } from './outbox.ts'
import { parts } from './parts.ts'
import { people } from './people.ts'
import { plan } from './plan.ts'
import { secrets } from './secrets.ts'
import { settings } from './settings.ts'
import { shell } from './shell.ts'
import { thread } from './thread.ts'
import { tokens } from './tokens.ts'
import { trace } from './trace.ts'
import { waiting } from './waiting.ts'
import { webhooks } from './webhooks.ts'
import { workspace } from './workspace.ts'

/** The words of all folders in German, as `words` names them. */
export const GERMAN = {
  access,
  account,
  agent,
  agents,
  audit,
  'audit actions': auditActions,
  compose,
  domains,
  health,
  home,
  inbox,
  numbers,
  outbox,
  parts,
  people,
  plan,
  secrets,
  settings,
  shell,
  thread,
  tokens,
  trace,
  waiting,
  webhooks,
  workspace,
}
