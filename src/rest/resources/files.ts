import type { OpenAPIHono } from '@hono/zod-openapi'
import { uuid } from '../../core/rules.ts'
import { LINK_PATH, openLink } from '../../message/reading/attachment-link.ts'
import type { RestEnv } from '../env.ts'
import { attachmentHeaders } from './file.ts'

/**
 * Serves links to attachments. Not part of the OpenAPI document, because only the service creates such URLs.
 */
export const fileRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.get(`${LINK_PATH}/:messageId/:index`, async (c) => {
    const { messageId, index } = c.req.param()
    const { expires = '', signature = '' } = c.req.query()
    const known = uuid.safeParse(messageId).success && /^\d{1,4}$/.test(index)
    // An impossible position gives the same error as an invalid signature.
    const place = known ? { messageId, index: Number(index) } : { messageId: '', index: -1 }
    const { name, type, content } = await openLink(c.var.deps, place, {
      expires,
      signature: known ? signature : '',
    })
    return c.body(content, 200, {
      ...attachmentHeaders(name, type),
      'Cache-Control': 'private, no-store',
      'Referrer-Policy': 'no-referrer',
    })
  })
}
