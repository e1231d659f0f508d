import type { OpenAPIHono } from '@hono/zod-openapi'
import { DOCUMENTATION_POLICY, documentationPage } from './documentation-page.ts'
import type { RestDeps, RestEnv } from './env.ts'
import { type Document, describe } from './openapi.ts'

/** `GET /openapi.json`, and the same for people to read at `GET /docs`. Made when they are first asked for. */
export const documentationRoutes = (app: OpenAPIHono<RestEnv>, { publicUrl, messageUrlBase }: RestDeps): void => {
  const made = new Map<string, { document: Document; page: string }>()
  const documentation = () => {
    const url = publicUrl()
    const known = made.get(url)
    if (known) return known
    const document = describe(app, url, messageUrlBase())
    const fresh = { document, page: documentationPage(document).text }
    made.set(url, fresh)
    return fresh
  }
  app.get('/openapi.json', (c) => c.json(documentation().document))
  app.get('/docs', (c) =>
    c.html(documentation().page, 200, { 'Content-Security-Policy': DOCUMENTATION_POLICY, 'X-Content-Type-Options': 'nosniff' }),
  )
}
