import type { PageViewer } from '../../auth/index.ts'
import { html } from '../../core/text/html.ts'
import { exportWorkspace } from '../../export/index.ts'
import { ensureOwner } from '../../workspace/index.ts'
import type { Download } from '../page/download.ts'
import type { Page } from '../page/page.ts'
import type { AppDeps } from './request.ts'

/** The page on which an owner exports the workspace: a form, because a session counts for no other request. */
export const exportPage = async (_deps: AppDeps, { viewer, formToken }: PageViewer): Promise<Page> => {
  ensureOwner(viewer)
  return {
    status: 200,
    title: 'Export the workspace',
    body: html`<p>One tar archive with settings, members, domains, phone numbers and the audit log as JSON, and a folder for each agent: its messages as JSON lines, its emails as they were received (mbox), and the files of other messages. Secrets are listed without their values.</p>
<p>It is made while you download it. The export is recorded in the audit log.</p>
<form method="post" action="/app/export">
<input type="hidden" name="form" value="${formToken}">
<button>Download the archive</button>
</form>
<p><a href="/app/workspace">Back</a></p>`,
  }
}

export const submitExport = async (deps: AppDeps, { viewer }: PageViewer): Promise<Download> => ({
  name: 'workspace.tar',
  type: 'application/x-tar',
  content: await exportWorkspace(deps, viewer),
})
