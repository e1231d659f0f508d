import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from '../../context.ts'
import type { RestEnv } from '../route/env.ts'
import { describe } from './openapi.ts'
import { DOCUMENTATION_POLICY, documentationPage } from './page.ts'

/**
 * Serves `GET /openapi.json`, and the same for people at `GET /docs`. Both are built on first use and stored
 * as bytes that all responses share, because unauthenticated clients may request them and not read the
 * response.
 */
export const documentationRoutes = (
  app: OpenAPIHono<RestEnv>,
  { publicUrl, messageUrlBase }: Context,
): void => {
  const built = new Map<string, { document: Uint8Array<ArrayBuffer>; page: Uint8Array<ArrayBuffer> }>()
  const documentation = () => {
    const url = publicUrl()
    const known = built.get(url)
    if (known) return known
    const document = describe(app, url, messageUrlBase())
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text))
    const fresh = { document: bytes(JSON.stringify(document)), page: bytes(documentationPage(document).text) }
    built.set(url, fresh)
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
