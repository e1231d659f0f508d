import { Html, html } from '../../core/text/html.ts'
import type { ViewOptions } from '../../message/index.ts'

const STYLE = `
:root { color-scheme: only light }
html { background: #fff; color: #1c2330 }
body { margin: 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
img { max-width: 100% }
table { max-width: 100% }
`

interface PageOptions extends ViewOptions {
  /** Whether a page of this service shows it in a frame. */
  framed?: boolean
}

/**
 * What a mail may do: its style, its own images, and links that open in a new tab. With the sandbox it has no
 * scripts and no forms. In a frame of this service it has the service's origin, so that the page around it can
 * measure it and hears its keys; everywhere else it has none.
 */
const policyOf = ({ remoteImages, framed = false }: PageOptions): string =>
  [
    `sandbox${framed ? ' allow-same-origin' : ''} allow-popups allow-popups-to-escape-sandbox`,
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${remoteImages ? ' https:' : ''}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ')

/** Returns the headers of a page that shows a mail. */
export const mailHeaders = (options: PageOptions): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policyOf(options),
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  // Browsers would look up the hosts of links.
  'X-DNS-Prefetch-Control': 'off',
  'Cross-Origin-Resource-Policy': 'same-origin',
})

/** Returns a page that shows sanitized HTML on a light ground, which mail is designed for. */
export const mailPage = (sanitized: string): string =>
  html`<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="only light">
<style>${new Html(STYLE)}</style>
</head>
<body dir="auto">${new Html(sanitized)}</body>
</html>
`.text
