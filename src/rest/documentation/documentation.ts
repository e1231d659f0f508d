import type { OpenAPIHono } from '@hono/zod-openapi'
import type { RestDeps, RestEnv } from '../env.ts'
import { describe } from './openapi.ts'
import { DOCUMENTATION_POLICY, documentationPage } from './page.ts'

/**
 * `GET /openapi.json`, and the same for people to read at `GET /docs`. Made when they are first asked for,
 * and kept as bytes that all answers share: anybody may ask, and need not read.
 */
export const documentationRoutes = (
  app: OpenAPIHono<RestEnv>,
  { publicUrl, messageUrlBase }: RestDeps,
): void => {
  const made = new Map<string, { document: Uint8Array<ArrayBuffer>; page: Uint8Array<ArrayBuffer> }>()
  const documentation = () => {
    const url = publicUrl()
    const known = made.get(url)
    if (known) return known
    const document = describe(app, url, messageUrlBase())
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text))
    const fresh = { document: bytes(JSON.stringify(document)), page: bytes(documentationPage(document).text) }
    made.set(url, fresh)
    return fresh
  }
  app.get('/openapi.json', (c) =>
    c.body(documentation().document, 200, { 'Content-Type': 'application/json' }),
  )
  app.get('/docs', (c) =>
    c.body(documentation().page, 200, {
      'Content-Type': 'text/html; charset=UTF-8',
      'Content-Security-Policy': DOCUMENTATION_POLICY,
      'X-Content-Type-Options': 'nosniff',
    }),
  )
}
