import type { IncomingMessage } from 'node:http'
import type { EmailLinks } from '../../auth/email-links.ts'
import type { ConnectedAppDeps } from '../../auth/oauth/connected-app.ts'
import type { ChallengeDeps } from '../../auth/passkey.ts'
import type { SignInDeps } from '../../auth/sign-in.ts'
import type { ExportDeps } from '../../export/index.ts'
import type { SettingsDeps } from '../../workspace/settings.ts'

export interface AppDeps extends SignInDeps, ChallengeDeps, SettingsDeps, ConnectedAppDeps, ExportDeps {
  emailLinks: EmailLinks
  /** Folder with the mail that is not sent; null if mail is sent. */
  capturedMail: string | null
}

/** A request for a page. */
export interface Visit {
  request: IncomingMessage
  url: URL
}

/** A submitted form. */
export interface Submitted extends Visit {
  form: URLSearchParams
}
