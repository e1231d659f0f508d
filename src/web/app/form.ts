import type { PageViewer } from '../../auth/index.ts'
import { type Html, html } from '../../core/text/html.ts'

const hidden = ([name, value]: [string, string]): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** A form with one button, whose other fields are hidden. */
export const button = (
  { formToken }: PageViewer,
  action: string,
  label: Html,
  fields: Record<string, string> = {},
): Html => html`<form method="post" action="${action}">
${Object.entries({ form: formToken, ...fields }).map(hidden)}
<button class="quiet">${label}</button>
</form>`

/** A form whose field `answer` the script of passkeys fills in. It is shown only where that works. */
export const passkeyForm = (
  { action, use, options }: { action: string; use: 'create' | 'get'; options: object },
  fields: Record<string, string>,
  content: Html,
): Html => html`<form method="post" action="${action}" data-passkey="${use}" data-options="${JSON.stringify(options)}" hidden>
${Object.entries({ ...fields, answer: '' }).map(hidden)}
${content}
<p class="bad" role="alert"></p>
</form>`
