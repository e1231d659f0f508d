import { access } from './access/german.ts'
import { account } from './account/german.ts'
import { agent } from './agent/german.ts'
import { agents } from './agents/german.ts'
import { audit, auditActions } from './audit/german.ts'
import { compose } from './compose/german.ts'
import { domains } from './domains/german.ts'
import { health } from './health/german.ts'
import { home } from './home/german.ts'
import { inbox } from './inbox/german.ts'
import { message } from './message/german.ts'
import { numbers } from './numbers/german.ts'
import { outbox } from './outbox/german.ts'
import { parts } from './parts/german.ts'
import { people } from './people/german.ts'
import { plan } from './plan/german.ts'
import { screen } from './screen/german.ts'
import { secrets } from './secrets/german.ts'
import { settings } from './settings/german.ts'
import { shell } from './shell/german.ts'
import { thread } from './thread/german.ts'
import { tokens } from './tokens/german.ts'
import { trace } from './trace/german.ts'
import { triage } from './triage/german.ts'
import { waiting } from './waiting/german.ts'
import { webhooks } from './webhooks/german.ts'
import { workspace } from './workspace/german.ts'

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
  message,
  numbers,
  outbox,
  parts,
  people,
  plan,
  screen,
  secrets,
  settings,
  shell,
  thread,
  tokens,
  trace,
  triage,
  waiting,
  webhooks,
  workspace,
}
