import type { IncomingMessage } from 'node:http'
import type { CompanyDeps, EmailLinks } from '../../auth/index.ts'
import type { ExportDeps } from '../../export/index.ts'

export interface AppDeps extends CompanyDeps, ExportDeps {
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
