import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { acceptedEncoding } from '../../core/http/encoding.ts'
import { ROOT } from '../../core/root.ts'
import { html } from '../../core/text/html.ts'
import { showPage } from './page.ts'

/** The web application as it was built. */
const FOLDER = join(ROOT, 'dist', 'dashboard')

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
}
/** The encodings made at build time, the smallest first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const
type Encoding = keyof typeof ENCODINGS

const POLICY = [
  "default-src 'none'",
  "script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; manifest-src 'self'",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ')

/** As in the pages: see there. */
const HEADERS = {
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

interface Build {
  page: Buffer
  /** Every asset by its name, with its encodings. */
  assets: ReadonlyMap<string, { plain: Buffer } & Partial<Record<Encoding, Buffer>>>
}

const read = (): Build | null => {
  const page = join(FOLDER, 'index.html')
  if (!existsSync(page)) return null
  const folder = join(FOLDER, 'assets')
  const names = readdirSync(folder)
  const at = (name: string) => readFileSync(join(folder, name))
  const assets = names
    .filter((name) => extname(name) in TYPES)
    .map((name) => {
      const encoded = Object.entries(ENCODINGS)
        .filter(([, ending]) => names.includes(name + ending))
        .map(([encoding, ending]) => [encoding, at(name + ending)])
      return [name, { plain: at(name), ...Object.fromEntries(encoded) }] as const
    })
  return { page: readFileSync(page), assets: new Map(assets) }
}

let known: Build | null = null
/** Kept in memory from the first request on, so that a page and its assets are of the same build. */
const build = (): Build | null => {
  known ??= read()
  return known
}

const PATH = /^\/app\/assets\/([\w.-]+)$/

/** Returns the name of the asset at a path; null if there is none. */
export const assetNameOf = (path: string): string | null => PATH.exec(path)?.[1] ?? null

/** Names contain a hash of the content, so that browsers may keep them for ever. */
const FOR_EVER = 'public, max-age=31536000, immutable'

export const sendAsset = (
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  caching = FOR_EVER,
): void => {
  const asset = build()?.assets.get(name)
  if (!asset) {
    response.writeHead(404, { ...HEADERS, 'Cache-Control': 'no-store' }).end()
    return
  }
  const made = (Object.keys(ENCODINGS) as Encoding[]).filter((one) => asset[one])
  const encoding = acceptedEncoding(String(request.headers['accept-encoding'] ?? ''), made)
  const bytes = (encoding && asset[encoding]) ?? asset.plain
  response
    .writeHead(200, {
      ...HEADERS,
      'Content-Type': TYPES[extname(name)]!,
      'Content-Length': bytes.length,
      'Cache-Control': caching,
      Vary: 'Accept-Encoding',
      ...(encoding ? { 'Content-Encoding': encoding } : {}),
    })
    .end(bytes)
}

/** Sends the icon, which browsers ask for at `/favicon.ico` when a page names none. */
export const sendIcon = (request: IncomingMessage, response: ServerResponse): void => {
  const names = [...(build()?.assets.keys() ?? [])]
  const icon = names.find((name) => /^icon-.*\.svg$/.test(name)) ?? ''
  sendAsset(request, response, icon, 'public, max-age=86400')
}

/** Sends the page of the web application, which shows what the path names. */
export const sendApplication = (response: ServerResponse): void => {
  const page = build()?.page
  if (!page) {
    showPage(response, {
      status: 503,
      title: 'The web application is not built',
      body: html`<p>Run <strong>npm run build</strong> and open the page again.</p>`,
    })
    return
  }
  response
    .writeHead(200, {
      ...HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': page.length,
      'Content-Security-Policy': POLICY,
      'X-Robots-Tag': 'noindex',
      'Cache-Control': 'no-cache',
    })
    .end(page)
}
