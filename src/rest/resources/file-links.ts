import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { uuid } from '../../core/rules.ts'
import {
  invalidLink,
  LINK_PATH,
  openHtmlLink,
  openLink,
  openRawLink,
  type Signed,
} from '../../message/index.ts'
import type { RestEnv } from '../route/env.ts'
import { attachmentHeaders, viewHeaders } from './download-headers.ts'
import { mailHeaders, mailPage } from './mail-page.ts'

/** The message and the query of a link. An impossible id gives the same error as an invalid signature. */
const linkOf = (c: Context<RestEnv>): { messageId: string; signed: Signed } => {
  const { messageId = '' } = c.req.param() as { messageId?: string }
  if (!uuid.safeParse(messageId).success) throw invalidLink()
  const { expires = '', signature = '' } = c.req.query()
  return { messageId, signed: { expires, signature } }
}

/** Browsers set these headers; pages cannot. A page opened in a tab, or by a browser without them, is not framed. */
const isFramed = (c: Context<RestEnv>): boolean =>
  c.req.header('Sec-Fetch-Dest') === 'iframe' && c.req.header('Sec-Fetch-Site') === 'same-origin'

const PRIVATE = { 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' }

/**
 * Serves links to attachments and to mails. Not part of the OpenAPI document, because only the service
 * creates such URLs.
 */
export const fileRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.get(`${LINK_PATH}/:messageId/raw`, async (c) => {
    const { messageId, signed } = linkOf(c)
    const content = await openRawLink(c.var.deps, messageId, signed)
    return c.body(content, 200, { ...attachmentHeaders(`${messageId}.eml`, 'message/rfc822'), ...PRIVATE })
  })
  for (const [file, remoteImages] of [
    ['html', false],
    ['html-with-images', true],
  ] as const)
    app.get(`${LINK_PATH}/:messageId/${file}`, async (c) => {
      const { messageId, signed } = linkOf(c)
      const html = await openHtmlLink(c.var.deps, messageId, { remoteImages }, signed)
      return c.body(mailPage(html), 200, mailHeaders({ remoteImages, framed: isFramed(c) }))
    })
  app.get(`${LINK_PATH}/:messageId/:index`, async (c) => {
    const { messageId, signed } = linkOf(c)
    const index = c.req.param('index')
    const [, number, view] = /^(\d{1,4})(-view)?$/.exec(index) ?? []
    if (!number) throw invalidLink()
    const place = { messageId, index: Number(number) }
    const { name, type, content } = await openLink(c.var.deps, place, signed, view !== undefined)
    const headers = view ? viewHeaders(name, type) : attachmentHeaders(name, type)
    return c.body(content, 200, { ...headers, ...PRIVATE })
  })
}
