import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readUpTo } from '../../core/http/body.ts'
import { Html, html } from '../../core/text/html.ts'
import { type ScriptName, scriptPath } from './scripts.ts'

/** Style of the web pages: one column, without external resources. The colours are those of src/dashboard/parts/style.css. */

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#f6f6f3, #131615); --panel: light-dark(#ffffff, #1a1e1d); --line: light-dark(#e3e3dd, #2c3231); --line-strong: light-dark(#8d918b, #6d7775) }
:root { --ink: light-dark(#1b1f1e, #e6e9e7); --soft: light-dark(#59605e, #a2aba8); --accent: light-dark(#0b6b62, #6fd3c5); --on-accent: light-dark(#ffffff, #06231f); --bad: light-dark(#ab2a1e, #ff9d90) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
main { width: 100%; max-width: 30rem; padding: 1.75rem; background: var(--panel); border: 1px solid var(--line); border-radius: .75rem }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere }
p { margin: 0 0 1rem; overflow-wrap: anywhere }
p:last-child { margin-bottom: 0 }
form + p { margin-top: 1.75rem }
form + details { margin-top: 1rem }
.soft { color: var(--soft) }
.bad { color: var(--bad); font-weight: 600 }
label { display: block; margin-bottom: .3rem; font-weight: 600 }
input, select, textarea, button, .button { width: 100%; padding: .7rem .8rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line-strong); border-radius: .5rem }
input, select, textarea { margin-bottom: 1rem }
button + button { margin-top: .75rem }
fieldset { margin: 0 0 1rem; padding: 0; border: 0 }
legend { padding: 0; margin: 1rem 0 .75rem; font-size: 1.1rem; font-weight: 600 }
.choice { display: flex; gap: .6rem; align-items: baseline; margin-bottom: .5rem }
.choice input { width: auto; margin: 0; flex: none; accent-color: var(--accent) }
.choice label { margin: 0; font-weight: 400 }
button, .button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer }
.second { margin-top: .75rem; background: none; color: var(--accent) }
.button { display: block; margin-bottom: 1rem; text-align: center; text-decoration: none }
a { color: var(--accent) }
summary { margin-bottom: 1rem; cursor: pointer }
h2 { margin: 2rem 0 .75rem; font-size: 1.1rem }
.ways + details { margin-top: 1.5rem }
details:not([open]) > summary { margin-bottom: 0 }
details + .ways, .ways > details + p { margin-top: .75rem }
.with-link { display: none }
.has-link .with-link { display: block }
[role=alert]:empty { display: none }
.has-link .ways, .has-link #link-form label, .has-link #link-form input, .has-link summary { display: none }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
pre { margin: 0 0 1rem; padding: .8rem; max-height: 24rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; font: inherit }
form + form { margin-top: 1.75rem }
.quiet { background: var(--panel); border-color: var(--line); color: var(--bad) }
code { display: block; margin-bottom: 1rem; padding: .8rem; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; font: .95rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; user-select: all }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  // The URL may contain a secret, which must not reach caches or other sites.
  'Cache-Control': 'no-store',
  // Not `no-referrer`: with it, browsers send `Origin: null` with our own forms (Fetch, 3.2).
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const policyOf = ({ scripts = [] }: Page): string =>
  [
    "default-src 'none'",
    ...(scripts.length > 0 ? ["script-src 'self'"] : []),
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ...(scripts.length > 0 ? ["require-trusted-types-for 'script'; trusted-types 'none'"] : []),
  ].join('; ')

const document = ({ title, body, scripts = [], next }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${next ? html`<meta http-equiv="refresh" content="0; url=${next}">` : []}
<title>${title}</title>
<style>${new Html(STYLE)}</style>
${scripts.map((name) => html`<script src="${scriptPath(name)}" defer></script>`)}
</head>
<body><main><h1>${title}</h1>${body}</main></body>
</html>
`

/** A page with its status. */
export interface Page {
  status: number
  title: string
  body: Html
  /** The scripts that it runs; none if omitted. */
  scripts?: readonly ScriptName[]
  /** Path on this service, or URL elsewhere, that the browser opens immediately. */
  next?: string
  /** Set-Cookie headers. */
  cookies?: readonly string[]
}

/** Returns a page's text and headers. */
export const pageOf = (page: Page): { text: string; headers: Record<string, string> } => ({
  text: document(page).text,
  headers: { ...HEADERS, 'Content-Security-Policy': policyOf(page) },
})

export const showPage = (response: ServerResponse, page: Page): void => {
  const { text, headers } = pageOf(page)
  const bytes = Buffer.from(text)
  if (page.cookies) response.setHeader('Set-Cookie', page.cookies)
  response.writeHead(page.status, { ...headers, 'Content-Length': bytes.length }).end(bytes)
}

/** Another page of the service that the browser opens instead. */
export interface Redirect {
  /** A path on this service. */
  location: string
  cookies?: readonly string[]
}

/** Shows a page, or redirects to one with GET. */
export const reply = (response: ServerResponse, answer: Page | Redirect): void => {
  if (!('location' in answer)) {
    showPage(response, answer)
    return
  }
  if (answer.cookies) response.setHeader('Set-Cookie', answer.cookies)
  response.writeHead(303, { Location: answer.location, 'Cache-Control': 'no-store' }).end()
}

const MAX_FORM_BYTES = 16 * 1024

/**
 * Reads the fields of a submitted form. Null if it is not a form or too large; of fields with the same name
 * the first is used.
 */
export const readForm = async (request: IncomingMessage): Promise<URLSearchParams | null> => {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return null
  const body = await readUpTo(request, MAX_FORM_BYTES)
  return body && new URLSearchParams(body.toString())
}
